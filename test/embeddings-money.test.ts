import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { vectorFor as geminiVector } from '../src/vendors/gemini/emulator/embeddings.ts';
import { GeminiEmulator } from '../src/vendors/gemini/emulator.ts';
import { OpenAiEmulator, type Script } from '../src/vendors/openai/emulator.ts';
import type { Fields } from './support/documents.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { moneyOf, paidCaller, tokenModel } from './support/paid-calls.ts';
import { upstreamHealth } from './support/upstream-health.ts';

const PATH = '/v1/embeddings';
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
const PRICING = {
  mode: 'per_token',
  credits: { input_per_k: 0.123457, output_per_k: 0 },
  token_tiers: [{ min_prompt_tokens: 100_000, input_per_k: 0.5005 }],
};
const TEXT = 'Every traveller pays the same fair price at this gate.';

const first = new OpenAiEmulator();
const second = new GeminiEmulator({ apiKey: 'key' });
let gateway: Gateway;
let caller: NewCaller;
let configurations = 0;

before(async () => {
  await Promise.all([first.start(), second.start()]);
  gateway = await Gateway.start();
});
after(async () => {
  await gateway.stop();
  await Promise.all([first.stop(), second.stop()]);
});
beforeEach(async () => {
  caller = await paidCaller(gateway);
  first.requests.length = 0;
  second.requests.length = 0;
});
afterEach(() => gateway.assertBooksBalance());

/** Upstreams with names of their own each time, so that no test finds another's breakers open. */
async function sell(routes: readonly Fields[], fields: Fields = {}): Promise<readonly string[]> {
  const names = routes.map((_, at) => `upstream-${++configurations}-${at}`);
  const upstreams = routes.map((route, at) => ({ id: names[at], priority: 9 - at, ...route }));
  const model = { endpoints: ['embeddings'], pricing: PRICING, ...fields };
  await gateway.putConfig({
    upstreams,
    models: [
      tokenModel('vectors', [], { ...model, routes: names.map((upstream) => ({ upstream, model: 'wire-name' })) }),
    ],
  });
  return names;
}

const openAiRoute = () => ({ vendor: 'openai', base_url: first.url });
const geminiRoute = () => ({ vendor: 'gemini', base_url: second.url, api_key: 'key' });

function ask(body: Fields = {}, { key }: NewCaller = caller): Promise<Answer> {
  return gateway.call('POST', PATH, { key, body: { model: 'vectors', input: TEXT, ...body } });
}

const credits = (micro: number) => Math.round(micro) / 1e6;

for (const [what, usage, micro] of [
  ['one token', { prompt_tokens: 1, total_tokens: 1 }, 123.457],
  ['tokens that are only told in all', { total_tokens: 7 }, 7 * 123.457],
  ['as many as were told', { prompt_tokens: 2001, total_tokens: 2001 }, 2001 * 123.457],
] as const) {
  test(`R-483 R-484: ${what} cost what the rates say, to the micro-credit`, async () => {
    await sell([openAiRoute()]);
    first.script({ kind: 'vectors', usage });
    const { json, headers } = await ask();
    assert.equal(json.usage.credits, credits(micro));
    assert.deepEqual(await moneyOf(gateway, caller), {
      available: credits(1e9 - Math.round(micro)),
      reserved: 0,
      spent: credits(micro),
    });
    const row = await gateway.call('GET', `/v1/requests/${headers['x-request-id']}`, { key: caller.key });
    assert.deepEqual([row.json.status, row.json.credits], ['settled', credits(micro)]);
  });
}

test('many inputs are charged by the sum of all calls that they took, at the rate of the sum', async () => {
  await sell([openAiRoute()]);
  const input = Array.from({ length: 120 }, () => 'word '.repeat(4000));
  const { json } = await ask({ input, dimensions: 2 });
  assert.ok(first.requests.length > 1);
  const tokens = 120 * 5000;
  assert.deepEqual(json.usage, { prompt_tokens: tokens, total_tokens: tokens, credits: credits(tokens * 500.5) });
});

test('a price by the request counts one, however many inputs', async () => {
  await sell([openAiRoute()], { pricing: { mode: 'per_request', credits: { base: 2 } } });
  assert.equal((await ask({ input: ['a', 'b', 'c'] })).json.usage.credits, 2);
});

for (const [what, script] of [
  ['no usage', { kind: 'vectors', usage: null }],
  ['a usage of nothing', { kind: 'vectors', usage: { prompt_tokens: 0, total_tokens: 0 } }],
] as const) {
  test(`an upstream that tells ${what} is charged by the estimate, which says so`, async () => {
    await sell([openAiRoute()]);
    first.script(script);
    const { json } = await ask();
    const { json: estimate } = await gateway.call('POST', '/v1/estimate', {
      key: caller.key,
      body: { endpoint: 'embeddings', model: 'vectors', input: TEXT },
    });
    assert.deepEqual([json.usage.estimated, json.usage.credits], [true, estimate.credits]);
    assert.equal(json.usage.prompt_tokens, Math.ceil(TEXT.length / 3.5));
    assert.equal((await moneyOf(gateway, caller)).spent, estimate.credits);
  });
}

test('an upstream that claims more tokens than there are bytes is not believed, and the operator sees it', async () => {
  const [name = ''] = await sell([openAiRoute()]);
  first.script({ kind: 'vectors', usage: { prompt_tokens: 1_000_000, total_tokens: 1_000_000 } });
  const { json } = await ask();
  assert.equal(json.usage.prompt_tokens, Math.ceil(TEXT.length / 3.5));
  assert.match(JSON.stringify(await upstreamHealth(gateway, name)), /claims 1000000 prompt tokens/);
});

test('R-086: what the balance does not cover is refused before anything is asked for', async () => {
  await sell([openAiRoute()]);
  const poor = await paidCaller(gateway, 0.001);
  const { status, json } = await ask({}, poor);
  assert.deepEqual([status, json.error.code], [402, 'insufficient_credits']);
  assert.match(json.error.message, /fewer or shorter/);
  assert.equal(first.requests.length, 0);
});

test('a model of two vendors is served by the second when the first fails, charged once', async () => {
  await sell([openAiRoute(), geminiRoute()]);
  first.script({ kind: 'error', error: 'throttled' });
  const { status, json } = await ask({ dimensions: 5 });
  assert.equal(status, 200);
  assert.deepEqual(json.data[0].embedding.map(Math.fround), geminiVector(TEXT, 5));
  assert.equal(json.usage.estimated, true);
  assert.deepEqual([first.requests.length, second.requests.length], [1, 1]);
  assert.equal((await moneyOf(gateway, caller)).spent, json.usage.credits);
});

const GARBLED: readonly (readonly [name: string, script: Script])[] = [
  ['fewer vectors than inputs', { kind: 'vectors', numbers: [[1, 2]] }],
  ['more vectors than inputs', { kind: 'vectors', numbers: [[1], [2], [3]] }],
  ['vectors of two lengths', { kind: 'vectors', numbers: [[1, 2], [3]] }],
  ['an infinity', { kind: 'vectors', numbers: [[1], [Number.NEGATIVE_INFINITY]] }],
  ['what is no number', { kind: 'vectors', numbers: [[Number.NaN], [1]] }],
  ['empty vectors', { kind: 'vectors', numbers: [[], []] }],
  ['half a number', { kind: 'raw', body: '{"data":[{"index":0,"embedding":"AAAA"},{"index":1,"embedding":"AAAA"}]}' }],
  ['no vectors', { kind: 'raw', body: '{"object":"list","data":[]}' }],
];
for (const [name, script] of GARBLED) {
  test(`${name}: the next candidate is asked; where there is none, it fails and costs nothing`, async () => {
    await sell([openAiRoute(), geminiRoute()]);
    first.script(script);
    assert.equal((await ask({ input: ['a', 'b'] })).status, 200);
    assert.equal(second.requests.length, 1);
    await sell([openAiRoute()]);
    const alone = await paidCaller(gateway);
    first.script(script);
    const { status, json } = await ask({ input: ['a', 'b'] }, alone);
    assert.deepEqual([status, json.error.code], [502, 'upstream_failed']);
    assert.deepEqual(await moneyOf(gateway, alone), UNTOUCHED);
  });
}

test('a server that overlooks the dimensions is unfit for them, and no strike is held against it', async () => {
  const [name = ''] = await sell([openAiRoute(), geminiRoute()]);
  first.script({ kind: 'vectors', dimensions: 16 });
  const { json } = await ask({ dimensions: 5 });
  assert.equal(json.data[0].embedding.length, 5);
  assert.equal((await upstreamHealth(gateway, name)).model?.strikes ?? 0, 0);
  await sell([openAiRoute()]);
  first.script({ kind: 'vectors', dimensions: 16 });
  const refused = await ask({ dimensions: 5 });
  assert.deepEqual([refused.status, refused.json.error.code], [400, 'upstream_rejected']);
});

test('when a later part of a long list fails, all of it fails and costs nothing', async () => {
  await sell([geminiRoute()]);
  second.script({ kind: 'vectors' }, { kind: 'error', error: 'invalid' });
  const { status } = await ask({ input: Array.from({ length: 150 }, (_, at) => `Text ${at}`) });
  assert.equal(status, 400);
  assert.equal(second.requests.length, 2);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});
