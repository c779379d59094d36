import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { Client } from 'pg';
import { OpenAiEmulator, type Script } from '../src/vendors/openai/emulator.ts';
import { CLIP, CLIP_PRICE, clipForm, TRANSCRIPTIONS } from './support/booth.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { chatBody, paidCaller, spentInTheEnd, tokenModel } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';

/** A greeting has 9 tokens of prompt and 3 of answer. */
const TOKENS = { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 4 } };
const CHARGED = 0.021;
/** 3407.4066 micro-credits for a greeting: rounded for each request, not for their sum. */
const ODD_COST = { input_per_k: 0.1234567, output_per_k: 0.7654321 };
const BROKEN: Script = { kind: 'error', error: 'broken' };

let gateway: Gateway;
let caller: NewCaller;
const alpha = new OpenAiEmulator();
const beta = new OpenAiEmulator();

before(async () => {
  await Promise.all([alpha.start(), beta.start()]);
  gateway = await Gateway.start();
  const chat = (id: string, upstream: string, more: object) =>
    tokenModel(id, [], { pricing: TOKENS, routes: [{ upstream, model: 'wire-name', ...more }] });
  await gateway.putConfig({
    upstreams: [
      { id: 'alpha-up', vendor: 'openai', base_url: alpha.url },
      { id: 'beta-up', vendor: 'openai', base_url: beta.url },
      { id: 'gamma-up', vendor: 'openai', base_url: beta.url },
      { id: 'ear-up', vendor: 'openai', base_url: beta.url },
    ],
    models: [
      chat('odd', 'alpha-up', { cost: ODD_COST }),
      chat('untold', 'beta-up', {}),
      { ...chat('gift', 'beta-up', { cost: { input_per_k: 1, output_per_k: 1 } }), pricing: free(TOKENS) },
      {
        id: 'listener',
        modality: 'audio',
        owned_by: 'house',
        endpoints: ['transcriptions'],
        pricing: { mode: 'per_audio_second', credits: { per_second: 2 } },
        routes: [{ upstream: 'ear-up', model: 'whisper-1', cost: { per_second: 0.5 } }],
      },
      {
        id: 'painter',
        modality: 'image',
        owned_by: 'house',
        endpoints: ['images'],
        pricing: { mode: 'per_image', credits: { base: 40 }, size_ratio: { '1024x1024': 0.5 } },
        accepts: { sizes: ['1024x1024'], n_max: 4 },
        routes: [{ upstream: 'gamma-up', model: 'gpt-image-1', cost: { base: 10 } }],
      },
    ],
  });
  caller = await paidCaller(gateway, 10_000);
});
after(async () => {
  await gateway.stop();
  await Promise.all([alpha.stop(), beta.stop()]);
});
afterEach(() => gateway.assertBooksBalance());

function free(pricing: typeof TOKENS) {
  return { ...pricing, credits: { input_per_k: 0, output_per_k: 0 } };
}

async function chat(model: string, more = {}): Promise<Answer> {
  return gateway.call('POST', '/v1/chat/completions', { key: caller.key, body: chatBody(model, more) });
}

async function paint(): Promise<string> {
  const body = { model: 'painter', prompt: 'a gate', size: '1024x1024', n: 2 };
  const { json } = await gateway.call('POST', '/v1/images/generations', { key: caller.key, body });
  await until(async () => {
    gateway.clock.advance(0.1);
    return (await gateway.call('GET', `/v1/jobs/${json.id}`, { key: caller.key })).json.status === 'succeeded';
  });
  return json.id;
}

async function usage(query = 'group_by=upstream'): Promise<Answer['json'][]> {
  await spentInTheEnd(gateway, caller);
  const { json, status, text } = await gateway.admin('GET', `/usage?account=${caller.accountId}&${query}`);
  assert.equal(status, 200, text);
  return json.data;
}

/** As a killed process loses it. */
async function loseLogOf(model: string): Promise<void> {
  const client = new Client({ connectionString: gateway.database.url });
  await client.connect();
  try {
    const lost = await client.query(
      `delete from request_log where id = (select id from request_log where model = $1 and status = 200
         order by id desc limit 1)`,
      [model],
    );
    assert.equal(lost.rowCount, 1);
  } finally {
    await client.end();
  }
}

const micro = (credits: number) => Math.round(credits * 1e6);
const sumOf = (rows: readonly Answer['json'][]) => rows.reduce((sum, { credits }) => sum + micro(credits), 0);

test('R-524: charged, cost and margin of each upstream, to the micro-credit and no more than the ledger’s', async () => {
  for (const stream of [false, true, false]) assert.equal((await chat('odd', { stream })).status, 200);
  await chat('untold');
  await chat('gift');
  await paint();
  const rows = await usage();
  const plain = { requests: 1, errors: 0 };
  assert.deepEqual(rows, [
    // Three times 3407, where the sum rounded once would be 10222.
    {
      group: 'alpha-up',
      requests: 3,
      credits: 0.063,
      errors: 0,
      cost: 0.010221,
      margin: 0.052779,
      credits_without_cost: 0,
    },
    // What is given away is charged nothing and costs 12 tokens; what states no cost has no part in the margin.
    { group: 'beta-up', ...plain, credits: CHARGED, cost: 0.012, margin: -0.012, credits_without_cost: CHARGED },
    { group: 'gamma-up', ...plain, credits: 40, cost: 10, margin: 30, credits_without_cost: 0 },
  ]);
  assert.equal(sumOf(rows), sumOf(await usage('group_by=day')));
  const spent = micro(await spentInTheEnd(gateway, caller));
  assert.equal(sumOf(rows), spent);
});

test('R-524: the same as CSV in exact decimals, narrowed and by pages', async () => {
  const path = `/usage?account=${caller.accountId}&group_by=upstream`;
  const { text } = await gateway.admin('GET', `${path}&format=csv&model=odd`);
  const head = 'upstream,requests,credits,errors,cost,margin,credits_without_cost';
  assert.equal(text, `${head}\r\nalpha-up,3,0.063,0,0.010221,0.052779,0\r\n`);
  const first = (await gateway.admin('GET', `${path}&limit=1`)).json;
  assert.deepEqual([first.data[0].group, first.has_more], ['alpha-up', true]);
  const rest = (await gateway.admin('GET', `${path}&limit=5&after=alpha-up`)).json;
  assert.deepEqual(
    [rest.data.map(({ group }: Answer['json']) => group), rest.has_more],
    [['beta-up', 'gamma-up'], false],
  );
});

test('an upstream that failed is told with its errors, and what was never charged is no cost', async () => {
  const before = await usage();
  alpha.script(BROKEN, BROKEN);
  assert.equal((await chat('odd')).status, 502);
  const [row] = await usage();
  assert.deepEqual(row, { ...before[0], errors: 1 });
  await gateway.admin('POST', '/upstreams/alpha-up/reset');
});

test('what was charged by a process that lost its log stands under no upstream, and no credit is missing', async () => {
  const before = await usage();
  await chat('odd');
  await usage();
  await loseLogOf('odd');
  const [unknown, ...known] = await usage();
  const none = { requests: 1, errors: 0, cost: null, margin: null };
  assert.deepEqual(unknown, { group: '(unknown)', ...none, credits: CHARGED, credits_without_cost: CHARGED });
  assert.deepEqual(known, before);
});

test('a transcription has its upstream and its cost in its own row, whatever becomes of the log’s', async () => {
  const { status, text } = await gateway.call('POST', TRANSCRIPTIONS, {
    key: caller.key,
    ...clipForm(CLIP, { model: 'listener' }),
  });
  assert.equal(status, 200, text);
  const heard = async () => (await usage()).find(({ group }) => group === 'ear-up');
  const row = await heard();
  const sums = { credits: CLIP_PRICE, cost: 0.75, margin: 2.25, credits_without_cost: 0 };
  assert.deepEqual(row, { group: 'ear-up', requests: 1, errors: 0, ...sums });
  await loseLogOf('listener');
  assert.deepEqual(await heard(), row);
});

test('no answer, header, job, error or row of a caller names cost, margin or upstream', async () => {
  const { key } = caller;
  const id = await paint();
  alpha.script(BROKEN, BROKEN);
  const failed = await chat('odd');
  assert.equal(failed.status, 502);
  await gateway.admin('POST', '/upstreams/alpha-up/reset');
  const whole = await chat('odd');
  const answers = [failed, whole, await chat('odd', { stream: true }), await chat('missing')];
  const paths = [
    '/v1/models',
    '/v1/models/odd',
    '/api/hub/public/models',
    '/v1/usage',
    '/v1/usage?group_by=model&format=csv',
    '/v1/credits',
    '/v1/credits/transactions',
    '/v1/credits/transactions?format=csv',
    '/v1/jobs',
    `/v1/jobs/${id}`,
    `/v1/requests/${whole.headers['x-request-id']}`,
    '/v1/usage?group_by=upstream',
  ];
  for (const path of paths) answers.push(await gateway.call('GET', path, { key }));
  const body = { endpoint: 'chat', ...chatBody('odd') };
  answers.push(await gateway.call('POST', '/v1/estimate', { key, body }));
  assert.equal(answers.filter(({ status }) => status === 200).length, 14, answers.map(({ status }) => status).join());
  for (const { text, headers } of answers) {
    assert.doesNotMatch(`${text} ${JSON.stringify(headers)}`, /\bcost\b|margin|-up\b|wire-name|routing/);
  }
});
