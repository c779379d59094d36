import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { AnthropicEmulator, textBlock } from '../src/vendors/anthropic/emulator.ts';
import type { Fields } from './support/documents.ts';
import { Gateway, type NewCaller } from './support/gateway.ts';
import { moneyOf, paidCaller, spentInTheEnd, tokenModel } from './support/paid-calls.ts';

// What the upstream of a prompt writes to its cache, where the operator has a price for that and where not.

const anthropic = new AnthropicEmulator({ marker: 'mark-upstream' });
const RATES = { input_per_k: 0.123457, cached_per_k: 0.0301, output_per_k: 2.000003 };
const USAGE = { input_tokens: 3, cache_creation_input_tokens: 10, cache_read_input_tokens: 20, output_tokens: 8 };
let gateway: Gateway;
before(async () => {
  await anthropic.start();
  gateway = await Gateway.start();
  const priced = (id: string, more: Fields) =>
    tokenModel(id, ['speaks'], { pricing: { mode: 'per_token', credits: { ...RATES, ...more } } });
  await gateway.putConfig({
    upstreams: [{ id: 'speaks', vendor: 'anthropic', base_url: anthropic.url, api_key: anthropic.apiKey }],
    models: [
      priced('plain', {}),
      priced('writing', { cache_write_per_k: 0.154321 }),
      priced('cheap', { cache_write_per_k: 0.01 }),
    ],
  });
});
after(async () => {
  await gateway.stop();
  await anthropic.stop();
});
afterEach(() => gateway.assertBooksBalance());

const marked = { type: 'text', text: 'x'.repeat(3500), cache_control: { type: 'ephemeral' } };
const { cache_control: _, ...unmarked } = marked;

const bodyOf = (model: string, block: Fields, more: Fields = {}): Fields => ({
  model,
  max_tokens: 100,
  messages: [{ role: 'user', content: [block] }],
  ...more,
});

function send({ key }: NewCaller, body: Fields) {
  anthropic.script({ kind: 'message', content: [textBlock('Good day.')], usage: USAGE });
  return gateway.call('POST', '/v1/messages', { key, body });
}

async function estimateOf(body: Fields): Promise<number> {
  const { key } = await paidCaller(gateway);
  const { json, text } = await gateway.call('POST', '/v1/estimate', { key, body: { endpoint: 'messages', ...body } });
  assert.ok(json.credits > 0, text);
  return json.credits;
}

// 3 × 123.457 + 10 × what is written + 20 × 30.1 + 8 × 2000.003 millionths, rounded once.
for (const [model, credits] of [
  ['plain', 0.018207],
  ['writing', 0.018516],
  ['cheap', 0.017072],
] as const) {
  for (const stream of [false, true]) {
    test(`R-160: ${model} ${stream ? 'in a stream' : 'whole'} is charged to the micro-credit`, async () => {
      const caller = await paidCaller(gateway);
      const { status, text } = await send(caller, bodyOf(model, marked, { stream }));
      assert.equal(status, 200, text);
      assert.equal(await spentInTheEnd(gateway, caller), credits);
      assert.match(text, new RegExp(`"credits":${credits}\\b`));
      assert.match(text, /"cache_creation_input_tokens":10\b/);
    });
  }
}

test('what is held covers a prompt that is written whole, where writing is dearer and the prompt is marked', async () => {
  const [plain, written] = [await estimateOf(bodyOf('writing', unmarked)), await estimateOf(bodyOf('writing', marked))];
  assert.ok(written > plain);
  assert.equal(await estimateOf(bodyOf('plain', marked)), plain);
  assert.equal(await estimateOf(bodyOf('cheap', marked)), plain);
  for (const more of [
    { cache_control: { type: 'ephemeral' } },
    { system: [{ ...unmarked, text: 'Be brief.', cache_control: { type: 'ephemeral' } }] },
  ]) {
    const told = await estimateOf(bodyOf('writing', unmarked, more));
    assert.ok(
      told > (await estimateOf(bodyOf('writing', unmarked, { ...more, cache_control: null, system: 'Be brief.' }))),
    );
  }
});

test('the hold is what the estimate tells, to the micro-credit', async () => {
  const body = bodyOf('writing', marked);
  const needed = await estimateOf(body);
  const enough = await paidCaller(gateway, needed);
  assert.equal((await send(enough, body)).status, 200);
  const short = await paidCaller(gateway, Number((needed - 0.000001).toFixed(6)));
  const asked = anthropic.requests.length;
  const refused = await send(short, body);
  assert.deepEqual([refused.status, refused.json.error.code], [402, 'insufficient_credits']);
  assert.equal(anthropic.requests.length, asked);
  assert.deepEqual((await moneyOf(gateway, short)).spent, 0);
});

test('a receipt tells what was written by its own rate', async () => {
  const caller = await paidCaller(gateway);
  const { headers } = await send(caller, bodyOf('writing', marked));
  const { json } = await gateway.call('GET', `/v1/requests/${headers['x-request-id'] ?? headers['request-id']}`, {
    key: caller.key,
  });
  assert.match(JSON.stringify(json), /cache_write_tokens/);
});

test('a claim to have written more than the prompt can hold is bounded by it', async () => {
  const caller = await paidCaller(gateway);
  const body = bodyOf('writing', { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } });
  const held = await estimateOf(body);
  anthropic.script({
    kind: 'message',
    content: [textBlock('Good day.')],
    usage: { ...USAGE, cache_creation_input_tokens: 50_000_000 },
  });
  const { status, text } = await gateway.call('POST', '/v1/messages', { key: caller.key, body });
  assert.equal(status, 200, text);
  assert.ok((await moneyOf(gateway, caller)).spent <= held);
});
