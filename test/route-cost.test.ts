import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { chatBody, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';

let gateway: Gateway;
let caller: NewCaller;

const model = (id: string, modality: string, endpoint: string, pricing: object, cost?: object) => ({
  id,
  modality,
  owned_by: 'house',
  endpoints: [endpoint],
  pricing,
  ...(modality === 'image' && { accepts: { sizes: ['256x256'], n_max: 2 } }),
  routes: [{ upstream: 'box', model: modality, ...(cost && { cost }) }],
});
const tokens = { mode: 'per_token', credits: { input_per_k: 1000, output_per_k: 4000 } };
const pictures = { mode: 'per_image', credits: { base: 40 }, size_ratio: { '256x256': 0.5 } };
const document = (models: readonly object[]) => ({ upstreams: [{ id: 'box', vendor: 'sandbox' }], models });

const MODELS = [
  model('paid/chat', 'chat', 'chat', tokens, { input_per_k: 500, output_per_k: 1000 }),
  model('free/chat', 'chat', 'chat', tokens),
  model('paid/image', 'image', 'images', pictures, { base: 10 }),
  model('free/image', 'image', 'images', pictures),
];

before(async () => {
  gateway = await Gateway.start();
  await gateway.putConfig(document(MODELS));
  caller = await paidCaller(gateway, 1_000_000);
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

async function rowsOf(modelId: string): Promise<Answer['json'][]> {
  return (await gateway.admin('GET', `/requests?model=${modelId}`)).json.data;
}

for (const stream of [false, true]) {
  test(`a call’s cost is told by its route’s rates and the units it was charged for, stream: ${stream}`, async () => {
    const other = await paidCaller(gateway, 1_000_000);
    const sent = { key: other.key, body: chatBody('paid/chat', { stream }) };
    assert.equal((await gateway.call('POST', '/v1/chat/completions', sent)).status, 200);
    await until(async () => (await rowsOf(`paid/chat&account=${other.accountId}`)).length === 1);
    const [row] = await rowsOf(`paid/chat&account=${other.accountId}`);
    const { receipt } = (await gateway.admin('GET', `/requests/${row.id}`)).json;
    const counts = Object.fromEntries(receipt.factors.units.map(({ unit, count }: Answer['json']) => [unit, count]));
    assert.equal(row.cost, (counts.input_tokens * 500 + counts.output_tokens * 1000) / 1000);
    assert.ok(row.cost > 0 && row.cost < row.credits);
  });
}

test('a cost that is not stated is unknown and not nothing', async () => {
  await gateway.call('POST', '/v1/chat/completions', { key: caller.key, body: chatBody('free/chat') });
  const [row] = await rowsOf('free/chat');
  assert.equal(row.cost, null);
});

for (const [id, cost] of [
  ['paid/image', 10],
  ['free/image', null],
] as const) {
  test(`a job’s cost is fixed when it ends, with the ratios of its price: ${id}`, async () => {
    const body = { model: id, prompt: 'a gate', size: '256x256', n: 2 };
    const { json, status, text } = await gateway.call('POST', '/v1/images/generations', { key: caller.key, body });
    assert.equal(status, 202, text);
    await until(async () => {
      gateway.clock.advance(0.1);
      return (await gateway.call('GET', `/v1/jobs/${json.id}`, { key: caller.key })).json.status === 'succeeded';
    });
    const [row] = await rowsOf(id);
    assert.deepEqual([row.job_id, row.credits, row.cost], [json.id, 40, cost]);
    const own = await gateway.call('GET', `/v1/jobs/${json.id}`, { key: caller.key });
    assert.ok(!own.text.includes('cost'), own.text);
  });
}

test('a repeated create call costs the operator nothing more', async () => {
  const headers = { 'idempotency-key': 'once' };
  const body = { model: 'paid/image', prompt: 'a gate', size: '256x256' };
  const repeating = await paidCaller(gateway);
  const create = () => gateway.call('POST', '/v1/images/generations', { key: repeating.key, body, headers });
  const { id } = (await create()).json;
  await until(async () => {
    gateway.clock.advance(0.1);
    return (await gateway.call('GET', `/v1/jobs/${id}`, { key: repeating.key })).json.status === 'succeeded';
  });
  const margin = async () => (await gateway.admin('GET', '/overview')).json.margin;
  const before = await margin();
  await create();
  assert.ok(Number.isFinite(before));
  assert.equal(await margin(), before);
  const rows = await rowsOf(`paid/image&account=${repeating.accountId}`);
  assert.deepEqual(
    rows.map(({ credits, cost }) => [credits, cost]),
    [
      [0, null],
      [20, 5],
    ],
  );
});

test('a cost with rates that the model’s mode does not use is refused where it stands', async () => {
  const wrong = model('wrong/image', 'image', 'images', pictures, { per_second: 1 });
  const answer = await gateway.admin('PUT', '/config', document([wrong]));
  assert.equal(answer.status, 400, answer.text);
  assert.match(answer.text, /models\[0\]\.routes\[0\]\.cost\.base/);
  assert.match(answer.text, /models\[0\]\.routes\[0\]\.cost\.per_second/);
});

test('a cost is told to no caller', async () => {
  for (const path of ['/v1/models', '/api/hub/public/models']) {
    const { text } = await gateway.call('GET', path, { key: caller.key });
    assert.ok(text.includes('paid/chat') && !text.includes('cost'), path);
  }
});
