import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import type { Fields } from './support/documents.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { captureLog } from './support/leaks.ts';
import { chatBody, framesIn, moneyOf, paidCaller, spentInTheEnd, tokenModel } from './support/paid-calls.ts';
import { upstreamHealth } from './support/upstream-health.ts';

/** What an upstream claims to have counted is bounded by what was ordered (ADR 0022). */

const STREAM_WITH_USAGE = { stream: true, stream_options: { include_usage: true } };
const PRICING = {
  mode: 'per_token',
  credits: { input_per_k: 1, cached_per_k: 1, output_per_k: 10, reasoning_per_k: 10 },
};

let gateway: Gateway;
const captured = captureLog();
const upstream = new OpenAiEmulator();
before(async () => {
  await upstream.start();
  gateway = await Gateway.start({ log: captured.log });
});
after(async () => {
  await gateway.stop();
  await upstream.stop();
});

let caller: NewCaller;
let upstreams = 0;
beforeEach(async () => {
  const id = `upstream-${++upstreams}`;
  const { max_output_tokens: _, ...unstated } = tokenModel('unstated', [id], { pricing: PRICING });
  await gateway.putConfig({
    upstreams: [{ id, vendor: 'openai', base_url: upstream.url }],
    models: [tokenModel('m', [id], { pricing: PRICING, context_tokens: 100_000 }), unstated],
  });
  caller = await paidCaller(gateway, 100_000);
});
afterEach(() => gateway.assertBooksBalance());

function chat(more: Fields = {}): Promise<Answer> {
  return gateway.call('POST', '/v1/chat/completions', { key: caller.key, body: chatBody('m', more) });
}

function usage(prompt: number, completion: number, cached = 0, reasoning = 0): Fields {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

async function lastFault(): Promise<string | undefined> {
  const { last_detail } = (await upstreamHealth(gateway, `upstream-${upstreams}`)).model;
  return typeof last_detail === 'string' ? last_detail : undefined;
}

/** Whole and as a stream, told and charged alike. */
async function bothWays(told: Fields, more: Fields): Promise<Fields & { credits: number }> {
  upstream.script({ kind: 'answer', usage: told }, { kind: 'answer', usage: told });
  const whole = await chat(more);
  assert.equal(whole.status, 200, whole.text);
  const streamed = await chat({ ...more, ...STREAM_WITH_USAGE });
  assert.equal(streamed.status, 200, streamed.text);
  const last = framesIn(streamed.text).at(-1).usage;
  assert.deepEqual(last, whole.json.usage);
  assert.equal((await moneyOf(gateway, caller)).spent, Math.round(last.credits * 2e6) / 1e6);
  return whole.json.usage;
}

for (const [what, told] of [
  ['10^9 completion tokens', usage(10, 1e9)],
  ['99,999 reasoning tokens', usage(10, 5, 0, 99_999)],
  ['reasoning and text that are too much together', usage(10, 99_999, 0, 50_000)],
  ['one token more than the order and its tolerance', usage(10, 27)],
  ['the largest integers', usage(10, Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER)],
] as const) {
  test(`R-483: ${what} on an order of 10 are charged as 10, and the operator sees why`, async () => {
    const { completion_tokens } = await bothWays(told, { max_tokens: 10 });
    assert.equal(completion_tokens, 10);
    assert.match((await lastFault()) ?? '', /claims \d+ completion tokens on an order of 10/);
    const lines = captured.text().split('\n');
    assert.ok(
      lines.some((line) => line.includes('claim beyond the order') && line.includes(`"upstream-${upstreams}"`)),
    );
  });
}

test('R-483: counts at the tolerance are charged as they are told', async () => {
  const { completion_tokens } = await bothWays(usage(10, 26), { max_tokens: 10 });
  assert.equal(completion_tokens, 26);
  assert.equal(await lastFault(), undefined);
});

test('R-483: several answers are one order', async () => {
  upstream.script({ kind: 'answer', usage: usage(10, 30) });
  assert.equal((await chat({ max_tokens: 10, n: 3 })).json.usage.completion_tokens, 30);
});

test("R-483: without a limit of the caller, the model's own is the order", async () => {
  assert.equal((await bothWays(usage(10, 1066), {})).completion_tokens, 1066);
});

test("R-483: one more than the model's own limit and its tolerance is charged as the limit", async () => {
  assert.equal((await bothWays(usage(10, 1067), {})).completion_tokens, 1000);
});

test('R-483: where neither caller nor model has a limit, a long answer is believed and an absurd one is not', async () => {
  assert.equal((await bothWays(usage(10, 131_072), { model: 'unstated' })).completion_tokens, 131_072);
  upstream.script({ kind: 'answer', usage: usage(10, 131_073) });
  assert.equal((await chat({ model: 'unstated' })).json.usage.completion_tokens, 4096);
});

for (const [what, told] of [
  ['10^9 prompt tokens', usage(1e9, 5)],
  ['10^9 cached tokens', usage(10, 5, 1e9)],
  ['more tokens than the body has bytes', usage(9000, 5)],
] as const) {
  test(`R-483: ${what} of a short prompt are charged as what was held for it`, async () => {
    const { prompt_tokens } = await bothWays(told, { max_tokens: 10 });
    assert.ok(Number(prompt_tokens) < 20, String(prompt_tokens));
    assert.match((await lastFault()) ?? '', /claims \d+ prompt tokens/);
  });
}

test('R-483: a text of many bytes may be as many tokens', async () => {
  const messages = [{ role: 'user', content: '。'.repeat(5000) }];
  assert.equal((await bothWays(usage(15_000, 5), { messages, max_tokens: 10 })).prompt_tokens, 15_000);
});

test('R-483: what a link holds is bounded by the context of the model alone', async () => {
  const image = { type: 'image_url', image_url: { url: 'https://pictures.test/1.png' } };
  const more = { messages: [{ role: 'user', content: [image] }], max_tokens: 10 };
  assert.equal((await bothWays(usage(100_000, 5), more)).prompt_tokens, 100_000);
  upstream.script({ kind: 'answer', usage: usage(105_017, 5) });
  assert.ok((await chat(more)).json.usage.prompt_tokens < 3000);
});

for (const [what, told] of [
  ['fractions', usage(10.5, 5.5)],
  ['negative numbers', usage(-10, -5)],
  ['numbers beyond all integers', usage(1e300, 1e300)],
  ['texts', { prompt_tokens: '10', completion_tokens: '5' }],
  ['lists', { prompt_tokens: [10], completion_tokens: {} }],
] as const) {
  test(`R-483: ${what} for counts are no counts: they are counted here`, async () => {
    upstream.script({ kind: 'answer', usage: told });
    const { status, json } = await chat({ max_tokens: 1000 });
    assert.deepEqual([status, json.usage.estimated], [200, true]);
  });
}

/** The text of an answer or a frame whose message holds lists in lists. */
function nested(levels: number, part: 'message' | 'delta'): string {
  const deep = '['.repeat(levels - 4) + ']'.repeat(levels - 4);
  const choice = `{"index":0,"${part}":{"role":"assistant","content":"x","deep":${deep}},"finish_reason":"stop"}`;
  return `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[${choice}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`;
}

for (const [what, body, status] of [
  ['of 64 levels is answered', nested(64, 'message'), 200],
  ['of 65 levels is garbled, and nothing is charged', nested(65, 'message'), 502],
  ['of 10,000 levels is garbled, and nothing is charged', nested(10_000, 'message'), 502],
  ['of too many values is garbled, and nothing is charged', `{"choices":[${'0,'.repeat(100_000)}0]}`, 502],
] as const) {
  test(`an answer ${what}`, async () => {
    upstream.script({ kind: 'raw', contentType: 'application/json', body });
    const answer = await chat();
    assert.equal(answer.status, status, answer.text.slice(0, 300));
    assert.equal((await moneyOf(gateway, caller)).spent > 0, status === 200);
  });

  test(`a first frame ${what}`, async () => {
    const frame = body.replace('"message"', '"delta"');
    upstream.script({ kind: 'frames', frames: [`data: ${frame}\n\n`] });
    const answer = await chat(STREAM_WITH_USAGE);
    assert.equal(answer.status, status, answer.text.slice(0, 300));
    assert.equal((await spentInTheEnd(gateway, caller)) > 0, status === 200);
  });
}

test('a later frame that is too deep ends the stream with an error, and what came before it is charged', async () => {
  const frames = [nested(10, 'delta').replace('"stop"', 'null'), nested(10_000, 'delta')].map(
    (text) => `data: ${text}\n\n`,
  );
  upstream.script({ kind: 'frames', frames });
  const { text } = await chat(STREAM_WITH_USAGE);
  assert.match(text, /upstream_failed/);
  assert.ok((await spentInTheEnd(gateway, caller)) > 0);
});
