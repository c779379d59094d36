import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { soundAs } from '../src/vendors/openai/emulator/audio.ts';
import type { NewCaller } from './support/gateway.ts';
import { captureLog } from './support/leaks.ts';
import { toneAs } from './support/media-samples.ts';
import { moneyOf, paidCaller, spentInTheEnd } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { RawConnection, requestText } from './support/raw-http.ts';
import {
  heard,
  MARKER,
  OpenSound,
  PRICE,
  piecewise,
  SPEECH,
  SpeechStudio,
  speechBody,
} from './support/speech-studio.ts';
import { upstreamHealth } from './support/upstream-health.ts';

const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
const RATE = 24_000;
const WAV = await toneAs('wav', { seconds: 4, sampleRate: RATE });
/** A second of it, and its header. */
const SECOND = RATE * 2;
const HEAD = 44;
const MODELS = ['voice/characters', 'voice/seconds', 'voice/clips'] as const;
/** What the four seconds above cost, said with the nine characters of the usual text. */
const WHOLE = {
  'voice/characters': (9 * PRICE.characters) / 1000,
  'voice/seconds': 4 * PRICE.second,
  'voice/clips': PRICE.clip,
};

const captured = captureLog();
const studio = new SpeechStudio();
before(() => studio.start({ log: captured.log }));
after(() => studio.stop());

let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(studio.gateway);
});
afterEach(() => studio.rest());

const hear = (more = {}) => heard(studio.gateway, caller, { response_format: 'wav', ...more });
const money = () => moneyOf(studio.gateway, caller);
const requestOf = async (headers: Record<string, unknown>) =>
  (await studio.gateway.call('GET', `/v1/requests/${String(headers['x-request-id'])}`, { key: caller.key })).json;

for (const model of MODELS) {
  test(`R-389: ${model}: what was charged is told, before the sound where it is known, else behind it`, async () => {
    studio.first.script({ kind: 'sound', pieces: [WAV] });
    const { headers, trailers } = await hear({ model });
    const isByLength = model === 'voice/seconds';
    assert.equal((isByLength ? trailers : headers)['x-credits-charged'], String(WHOLE[model]));
    assert.equal((isByLength ? headers : trailers)['x-credits-charged'], undefined);
    assert.equal(headers.trailer, isByLength ? 'x-credits-charged' : undefined);
    assert.equal((await money()).spent, WHOLE[model]);
    const { status, usage, credits } = await requestOf(headers);
    assert.deepEqual([status, credits], ['settled', WHOLE[model]]);
    assert.deepEqual(usage, { characters: 9, milliseconds: 4000, requests: 1 });
  });

  test(`${model}: a caller who leaves stops the upstream and pays for what was delivered`, async () => {
    const never = Promise.withResolvers<void>();
    const half = HEAD + SECOND * 2;
    studio.first.script({ kind: 'sound', pieces: piecewise(WAV.subarray(0, half), never.promise) });
    const sound = await OpenSound.open(studio.gateway, caller, { model, response_format: 'wav' });
    await sound.until(half);
    await sound[Symbol.asyncDispose]();
    assert.equal(await studio.first.requests[0]?.isAbandoned, true);
    never.resolve();
    const expected = model === 'voice/seconds' ? 2 * PRICE.second : WHOLE[model];
    assert.equal(await spentInTheEnd(studio.gateway, caller), expected);
  });

  test(`${model}: sound that breaks off is cut, charged as far as it came, and held against its upstream`, async () => {
    const half = HEAD + SECOND * 2;
    const arrived = Promise.withResolvers<void>();
    const pieces = piecewise(WAV.subarray(0, half), arrived.promise);
    studio.first.script({ kind: 'sound', pieces, end: 'reset' });
    await using sound = await OpenSound.open(studio.gateway, caller, { model, response_format: 'wav' });
    await sound.until(half);
    arrived.resolve();
    const { bytes, isCut } = await sound.rest();
    assert.deepEqual([sound.status, isCut, bytes.equals(WAV.subarray(0, half))], [200, true, true]);
    const expected = model === 'voice/seconds' ? 2 * PRICE.second : WHOLE[model];
    assert.equal(await spentInTheEnd(studio.gateway, caller), expected);
    const { strikes, last_fault } = (await upstreamHealth(studio.gateway, 'first')).model;
    assert.deepEqual([strikes, last_fault], [1, 'connection']);
    assert.equal(studio.second.requests.length, 0);
  });

  for (const output of ['binary', 'b64_json', 'url']) {
    test(`${model}: when every upstream fails, ${output} fails and costs nothing`, async () => {
      studio.first.script({ kind: 'error', error: 'broken' }, { kind: 'error', error: 'broken' });
      studio.second.script({ kind: 'error', error: 'overloaded' });
      const answer = await studio.speak(caller, { model, output });
      assert.deepEqual([answer.status, answer.json.error.code], [502, 'upstream_failed']);
      assert.ok(!JSON.stringify(answer).includes(MARKER));
      assert.deepEqual(await money(), UNTOUCHED);
    });
  }
}

test('R-389: a clip costs what it lasts, to the millisecond, whatever its format', async () => {
  for (const [format, seconds] of [
    ['pcm', 4],
    ['wav', 4],
    ['flac', 4],
    ['opus', 4],
    ['mp3', 4.032],
    ['aac', 4.032],
  ] as const) {
    const tone = format === 'opus' ? 'ogg-opus' : format;
    const pieces = format === 'pcm' ? WAV.subarray(HEAD) : await toneAs(tone as 'wav', { seconds: 4 });
    studio.first.script({ kind: 'sound', pieces: [pieces] });
    const { trailers } = await hear({ model: 'voice/seconds', response_format: format });
    const told = Number(trailers['x-credits-charged']);
    assert.ok(Math.abs(told - seconds * PRICE.second) < 1, `${format}: ${told}`);
    const { usage } = (await studio.speak(caller, { model: 'voice/seconds', output: 'b64_json', format })).json;
    assert.equal(usage.credits, Math.round(usage.audio_seconds * PRICE.second * 1e6) / 1e6);
  }
});

test('R-377: characters are charged as code points, of text and not of directions', async () => {
  const { usage } = (await studio.speak(caller, { input: '😀é', prompt: 'calmly', output: 'b64_json' })).json;
  assert.deepEqual([usage.characters, usage.credits], [2, (2 * PRICE.characters) / 1000]);
});

test('an upstream that fails before its first byte is passed over', async () => {
  for (const script of [
    { kind: 'error', error: 'broken' },
    { kind: 'fault', fault: 'reset' },
    { kind: 'fault', fault: 'garbage' },
    { kind: 'sound', pieces: [], end: 'reset' },
  ] as const) {
    for (const output of ['binary', 'b64_json']) {
      studio.gateway.clock.advance(3600);
      studio.first.script(script);
      const { status } = await studio.speak(caller, { output });
      assert.equal(status, 200);
      assert.equal(studio.second.requests.length, 1);
      studio.second.requests.length = 0;
    }
  }
  assert.equal((await money()).spent, (8 * 9 * PRICE.characters) / 1000);
});

test('inside JSON nothing has been sent yet, so a clip that breaks off is made elsewhere', async () => {
  studio.first.script({ kind: 'sound', pieces: [WAV.subarray(0, SECOND)], end: 'reset' });
  const { json } = await studio.speak(caller, { output: 'b64_json', response_format: 'wav', model: 'voice/seconds' });
  assert.ok(Buffer.from(json.b64_json, 'base64').equals(await soundAs('wav')));
  assert.equal((await money()).spent, 0.5 * PRICE.second);
});

test('what the request itself is to blame for is asked of nobody else', async () => {
  studio.first.script({ kind: 'error', error: 'policy' });
  const answer = await studio.speak(caller);
  assert.deepEqual([answer.status, answer.json.error.code], [400, 'content_rejected']);
  assert.equal(studio.second.requests.length, 0);
  assert.deepEqual(await money(), UNTOUCHED);
});

for (const output of ['binary', 'b64_json']) {
  test(`a caller who leaves before the first byte of ${output} stops the upstream and pays nothing`, async () => {
    studio.first.script({ kind: 'fault', fault: 'silence' });
    using connection = await RawConnection.open(studio.gateway.url);
    const headers = [`Authorization: Bearer ${caller.key}`];
    await connection.send(requestText(`POST ${SPEECH}`, headers, JSON.stringify(speechBody({ output }))));
    await until(() => studio.first.requests.length === 1);
    connection.reset();
    assert.equal(await studio.first.requests[0]?.isAbandoned, true);
    await spentInTheEnd(studio.gateway, caller);
    assert.deepEqual(await money(), UNTOUCHED);
  });
}

test('a slow reader holds the upstream back, and what it leaves is not charged', async () => {
  const long = Buffer.concat([WAV.subarray(0, HEAD - 4), Buffer.of(255, 255, 255, 255)]);
  let sent = 0;
  async function* endless(): AsyncIterable<Buffer> {
    yield long;
    for (; sent < 2000; sent++) yield Buffer.alloc(SECOND);
  }
  studio.first.script({ kind: 'sound', pieces: endless() });
  const sound = await OpenSound.open(studio.gateway, caller, { model: 'voice/seconds', response_format: 'wav' });
  await until(() => sent > 0);
  let before = -1;
  await until(() => {
    const isStill = sent === before;
    before = sent;
    return isStill;
  });
  assert.ok(sent < 2000, `${sent} seconds were taken`);
  await sound[Symbol.asyncDispose]();
  assert.equal(await studio.first.requests[0]?.isAbandoned, true);
  const spent = await spentInTheEnd(studio.gateway, caller);
  assert.ok(spent > 0 && spent <= sent * PRICE.second, `${spent} for ${sent} seconds`);
});

test('no line of the log is an error', () => {
  assert.ok(!captured.text().includes('"level":50'), captured.text().slice(0, 2000));
});
