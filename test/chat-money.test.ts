import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import type { Fields } from './support/documents.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { rowsOf } from './support/keeping.ts';
import { captureLog } from './support/leaks.ts';
import {
  chatBody,
  delta,
  framesIn,
  gated,
  moneyOf,
  OpenStream,
  paidCaller,
  spentInTheEnd,
  tokenModel,
} from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { RawConnection, requestText } from './support/raw-http.ts';

const PATH = '/v1/chat/completions';
const STREAM = { stream: true };
const STREAM_WITH_USAGE = { stream: true, stream_options: { include_usage: true } };
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
/** Micro-credits for one token, as the operator's rates below come to. */
const MICRO = { input: 123.457, cached: 30.1, output: 2000.003, reasoning: 3100, longInput: 500.5 };
const PRICING = {
  mode: 'per_token',
  credits: { input_per_k: 0.123457, cached_per_k: 0.0301, output_per_k: 2.000003, reasoning_per_k: 3.1 },
  token_tiers: [{ min_prompt_tokens: 1000, input_per_k: 0.5005 }],
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
  await gateway.putConfig({
    upstreams: [{ id, vendor: 'openai', base_url: upstream.url }],
    models: [tokenModel('odd', [id], { pricing: PRICING })],
  });
  caller = await paidCaller(gateway);
  upstream.requests.length = 0;
});
afterEach(() => gateway.assertBooksBalance());

function chat(more: Fields = {}, { key }: { key: string } = caller): Promise<Answer> {
  return gateway.call('POST', PATH, { key, body: chatBody('odd', more) });
}

/** What became of a call, as its caller reads it. */
function requestOf(answer: { headers: Record<string, unknown> }, { key }: NewCaller = caller): Promise<Answer> {
  return gateway.call('GET', `/v1/requests/${String(answer.headers['x-request-id'])}`, { key });
}

function usage(prompt: number, completion: number, cached = 0, reasoning = 0): Fields {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

test('R-279: however busy an account is, what it reads right after an answer counts that answer', async () => {
  const [first] = await rowsOf<{ lines: bigint }>(gateway, LINES);
  let spent = 0;
  for (let call = 1; call <= 25; call++) {
    const answer = await chat();
    spent = credits((spent + answer.json.usage.credits) * 1e6);
    assert.deepEqual(await moneyOf(gateway, caller), { available: credits((1000 - spent) * 1e6), reserved: 0, spent });
    const { status, credits: charged } = (await requestOf(answer)).json;
    assert.deepEqual([status, charged], ['settled', answer.json.usage.credits]);
    const { json: key } = await gateway.call('GET', '/v1/key', { key: caller.key });
    assert.equal(key.credits_used, spent);
  }
  const entries = await gateway.call('GET', '/v1/credits/transactions?limit=100', { key: caller.key });
  assert.equal(entries.json.data.length, 1 + 2 * 25);
  const [last] = await rowsOf<{ lines: bigint }>(gateway, LINES);
  assert.ok((last?.lines ?? 0n) - (first?.lines ?? 0n) > 20n);
});

const LINES = 'select last_value as lines from ledger_journal_number_seq';

/** Rounded once, half up. */
function credits(micro: number): number {
  return Math.round(micro) / 1e6;
}

const BELOW = 900 * MICRO.input + 100 * MICRO.cached + 13 * MICRO.output + 7 * MICRO.reasoning;
const ABOVE = 901 * MICRO.longInput + 100 * MICRO.cached + 13 * MICRO.output + 7 * MICRO.reasoning;
for (const [what, told, micro] of [
  ['one token each way', usage(1, 1), MICRO.input + MICRO.output],
  ['cached and reasoning tokens at their own rates', usage(1000, 20, 100, 7), BELOW],
  ['a prompt above the tier, cached tokens counted, at its rates', usage(1001, 20, 100, 7), ABOVE],
] as const) {
  test(`R-483 R-484: ${what} cost what the rates say, to the micro-credit`, async () => {
    upstream.script({ kind: 'answer', usage: told }, { kind: 'answer', usage: told });
    const whole = await chat();
    assert.equal(whole.json.usage.credits, credits(micro));
    assert.equal((await moneyOf(gateway, caller)).spent, credits(micro));
    const streamed = framesIn((await chat(STREAM_WITH_USAGE)).text);
    assert.equal(streamed.at(-1).usage.credits, credits(micro));
    assert.equal((await moneyOf(gateway, caller)).spent, (2 * Math.round(micro)) / 1e6);
  });
}

test('R-478: cached and reasoning tokens are told inside the totals', async () => {
  upstream.script({ kind: 'answer', usage: usage(1000, 20, 100, 7) });
  const { credits: _, ...told } = (await chat()).json.usage;
  assert.deepEqual(told, usage(1000, 20, 100, 7));
});

test('R-483: tokens that the upstream does not tell are counted here, charged, and marked as estimated', async () => {
  upstream.script({ kind: 'answer', usage: null }, { kind: 'answer', usage: null });
  const whole = (await chat()).json.usage;
  const streamed = framesIn((await chat(STREAM_WITH_USAGE)).text).at(-1).usage;
  for (const { estimated, prompt_tokens, completion_tokens, ...told } of [whole, streamed]) {
    assert.equal(estimated, true);
    assert.ok(prompt_tokens > 0 && completion_tokens >= 3, JSON.stringify({ prompt_tokens, completion_tokens }));
    assert.equal(told.credits, credits(prompt_tokens * MICRO.input + completion_tokens * MICRO.output));
  }
  assert.equal(whole.prompt_tokens, streamed.prompt_tokens);
});

test('what goes beyond the reservation is charged too, once', async () => {
  const poor = await paidCaller(gateway, 2.1);
  upstream.script({ kind: 'answer', usage: usage(4000, 1000) });
  const { status, json } = await chat({ max_completion_tokens: 1000 }, poor);
  assert.equal(status, 200);
  assert.equal(json.usage.credits, credits(4000 * MICRO.longInput + 1000 * MICRO.output));
  const { available, spent } = await moneyOf(gateway, poor);
  assert.deepEqual([available < 0, spent], [true, json.usage.credits]);
  assert.equal((await chat({}, poor)).status, 402);
});

test('R-040 R-060: an account without credits gets 402 and reaches no upstream', async () => {
  const poor = await gateway.newCaller();
  for (const more of [{}, STREAM]) {
    const { status, json, headers } = await chat(more, poor);
    assert.deepEqual([status, json.error.code], [402, 'insufficient_credits']);
    assert.equal(headers['x-should-retry'], 'false');
  }
  assert.equal(upstream.requests.length, 0);
  assert.deepEqual(await moneyOf(gateway, poor), { available: 0, reserved: 0, spent: 0 });
});

test('R-515: a refused call is refused again until credits are granted, and then passes', async () => {
  const poor = await gateway.newCaller();
  assert.equal((await chat({}, poor)).status, 402);
  assert.equal((await chat({}, poor)).status, 402);
  await gateway.admin('POST', `/accounts/${poor.accountId}/grants`, { credits: 10 });
  assert.equal((await chat({}, poor)).status, 200);
});

test('R-060: a balance that covers less than the most that the call may cost is not enough', async () => {
  const poor = await paidCaller(gateway, 1.9);
  assert.equal((await chat({ max_tokens: 1000 }, poor)).status, 402);
  assert.equal((await chat({ max_tokens: 900 }, poor)).status, 200);
});

for (const [format, path, body] of [
  ['chat', PATH, chatBody('odd', STREAM)],
  ['responses', '/v1/responses', { model: 'odd', input: 'Hi', stream: true }],
] as const) {
  test(`R-483: a caller who leaves ${format} stops the upstream and pays for what was delivered`, () =>
    leaveInStream(path, body));
}

async function leaveInStream(path: string, body: Fields): Promise<void> {
  const never = Promise.withResolvers<void>();
  upstream.script({ kind: 'frames', frames: gated(delta('One two three '), never.promise, delta('four', 'stop')) });
  const stream = await OpenStream.open(gateway, path, { key: caller.key, body });
  await stream.until('three');
  await stream[Symbol.asyncDispose]();
  assert.equal(await upstream.requests[0]?.isAbandoned, true);
  never.resolve();
  const spent = await spentInTheEnd(gateway, caller);
  const { json } = await requestOf(stream);
  const { input_tokens: inputTokens, output_tokens: outputTokens } = json.usage;
  assert.ok(inputTokens >= 3 && outputTokens >= 3 && outputTokens <= 6, JSON.stringify(json));
  assert.equal(spent, credits(inputTokens * MICRO.input + outputTokens * MICRO.output));
}

test('R-483: the input is the least that a stream costs once it has begun', async () => {
  const never = Promise.withResolvers<void>();
  upstream.script({ kind: 'frames', frames: gated(delta(''), never.promise) });
  const stream = await OpenStream.open(gateway, PATH, { key: caller.key, body: chatBody('odd', STREAM) });
  await stream.until('chat.completion.chunk');
  await stream[Symbol.asyncDispose]();
  await upstream.requests[0]?.isAbandoned;
  never.resolve();
  const spent = await spentInTheEnd(gateway, caller);
  const { usage: units } = (await requestOf(stream)).json;
  assert.equal(units.output_tokens, 0);
  assert.ok(spent > 0);
  assert.equal(spent, credits(units.input_tokens * MICRO.input));
});

for (const [what, more] of [
  ['a whole answer', {}],
  ['the first frame', STREAM],
] as const) {
  test(`R-069 R-483: a caller who leaves before ${what} stops the upstream and pays nothing`, async () => {
    upstream.script({ kind: 'fault', fault: 'silence' });
    const body = JSON.stringify(chatBody('odd', more));
    using connection = await RawConnection.open(gateway.url);
    const headers = [`Authorization: Bearer ${caller.key}`, `X-Request-Id: gone-${upstreams}`];
    await connection.send(requestText(`POST ${PATH}`, headers, body));
    await until(() => upstream.requests.length === 1);
    connection.reset();
    assert.equal(await upstream.requests[0]?.isAbandoned, true);
    await spentInTheEnd(gateway, caller);
    assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
    const { json } = await requestOf({ headers: { 'x-request-id': `gone-${upstreams}` } });
    assert.deepEqual([json.status, json.credits], ['refunded', 0]);
    const lines = captured
      .text()
      .split('\n')
      .filter((line) => line.includes(`"gone-${upstreams}"`));
    assert.ok(
      lines.some((line) => line.includes('"status":499') && line.includes('request_canceled')),
      lines.join(),
    );
    assert.ok(!lines.some((line) => line.includes('"level":50')), lines.join());
  });
}

test('R-069: a caller who has only ended its side gets its answer, and one who has closed stops the upstream', async () => {
  for (const isLeaving of [false, true]) {
    upstream.requests.length = 0;
    upstream.script({ kind: 'fault', fault: 'silence' });
    using connection = await RawConnection.open(gateway.url);
    const headers = [`Authorization: Bearer ${caller.key}`];
    await connection.send(requestText(`POST ${PATH}`, headers, JSON.stringify(chatBody('odd', {}))));
    await until(() => upstream.requests.length === 1);
    connection.finish();
    // The interim answer by which the two are told apart.
    assert.equal((await connection.answer()).status, 102);
    if (!isLeaving) continue;
    connection[Symbol.dispose]();
    assert.equal(await upstream.requests[0]?.isAbandoned, true);
  }
  await spentInTheEnd(gateway, caller);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});

test('a failed call is told as refunded', async () => {
  upstream.script({ kind: 'error', error: 'broken' }, { kind: 'error', error: 'broken' });
  const failed = await chat();
  assert.equal(failed.status, 502);
  const { json } = await requestOf(failed);
  assert.deepEqual([json.status, json.credits, json.usage], ['refunded', 0, null]);
  assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
});

test('the caller can read what became of a call, and nobody else can', async () => {
  const answer = await chat();
  const { status, json } = await requestOf(answer);
  assert.equal(status, 200);
  assert.deepEqual(json, {
    id: answer.headers['x-request-id'],
    object: 'request',
    status: 'settled',
    model: 'odd',
    endpoint: 'chat',
    usage: { input_tokens: 9, cached_tokens: 0, output_tokens: 3, reasoning_tokens: 0, requests: 1 },
    credits: answer.json.usage.credits,
    created_at: gateway.clock.nowMs() / 1000,
  });
  const other = await paidCaller(gateway);
  const foreign = await requestOf(answer, other);
  const unknown = await gateway.call('GET', '/v1/requests/req_none', { key: other.key });
  assert.deepEqual([foreign.status, foreign.json.error.code], [404, 'request_not_found']);
  assert.deepEqual(foreign.json, unknown.json);
});

test('a call that runs is told as running, and what it holds is no longer available', async () => {
  const more = Promise.withResolvers<void>();
  upstream.script({ kind: 'frames', frames: gated(delta('One'), more.promise, delta('', 'stop')) });
  await using stream = await OpenStream.open(gateway, PATH, { key: caller.key, body: chatBody('odd', STREAM) });
  await stream.until('One');
  assert.equal((await requestOf(stream)).json.status, 'running');
  const { available, reserved } = await moneyOf(gateway, caller);
  assert.deepEqual([reserved > 1, available], [true, 1000 - reserved]);
  more.resolve();
  assert.equal((await stream.rest()).isCut, false);
});
