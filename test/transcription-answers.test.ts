import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { pino } from 'pino';
import { Agent, request } from 'undici';
import {
  Booth,
  clipForm,
  entriesOf,
  MARKER,
  CLIP_PRICE as PRICE,
  TRANSCRIPTIONS,
  CLIP as WAV,
} from './support/booth.ts';
import type { Answer, NewCaller } from './support/gateway.ts';
import { storedFiles } from './support/keeping.ts';
import { toldBy } from './support/media-studio.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';

const USAGE = { type: 'duration', seconds: 1.5, audio_seconds: 1.5, credits: PRICE };
const TEXT = 'Hello there. How are you?';

let booth: Booth;
let caller: NewCaller;
beforeEach(async () => {
  booth = new Booth();
  await booth.start();
  caller = await paidCaller(booth.gateway, 1000);
});
afterEach(async () => {
  await booth.gateway.assertBooksBalance();
  await booth.stop();
});

const verbose = (fields: Record<string, string> = {}) => clipForm(WAV, { response_format: 'verbose_json', ...fields });
const free = { available: 1000, reserved: 0, spent: 0 };
const paid = { available: 1000 - PRICE, reserved: 0, spent: PRICE };

/** Where the answer says that its record is. */
function idOf({ headers }: Answer): string {
  const id = headers['x-request-id'] ?? '';
  assert.match(id, /^req_[0-9A-Za-z]{24}$/);
  assert.equal(headers.location, `${booth.gateway.config.publicUrl}${TRANSCRIPTIONS}/${id}`);
  return id;
}

/** The request came to nothing after its credits were held: it says where to look, and everything has been given back. */
async function comesToNothing(answer: Answer, told: string, status: 'failed' | 'unavailable'): Promise<void> {
  assert.equal(toldBy(answer), told, answer.text);
  const { json } = await booth.read(caller, idOf(answer));
  const { error, result } = json;
  assert.deepEqual([json.status, json.settlement_state, result], [status, 'released', undefined]);
  assert.equal(error.code, answer.json.error.code);
  assert.deepEqual(await moneyOf(booth.gateway, caller), free);
  await booth.assertNothingStored();
}

test('R-419: as text, the answer is the bare transcript and its price stands in a header', async () => {
  const answer = await booth.heard(caller, clipForm(WAV, { response_format: 'text' }));
  assert.equal(answer.text, TEXT);
  assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8');
  assert.equal(answer.headers['x-credits-charged'], String(PRICE));
  assert.deepEqual(await moneyOf(booth.gateway, caller), paid);
});

test('R-420: plain JSON has the text and the usage, and nothing else', async () => {
  for (const fields of [{}, { response_format: 'json' }, { 'timestamp_granularities[]': 'word' }]) {
    const answer = await booth.heard(caller, clipForm(WAV, fields));
    assert.deepEqual(answer.json, { text: TEXT, usage: USAGE });
  }
});

test('R-420, R-421: verbose JSON has task, language, duration and whole segments', async () => {
  const { json } = await booth.heard(caller, verbose());
  const { segments, ...rest } = json;
  assert.deepEqual(rest, { task: 'transcribe', language: 'en', duration: 1.5, text: TEXT, usage: USAGE });
  assert.equal(segments.length, 1);
  const figures = { seek: 0, tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 0, no_speech_prob: 0.01 };
  assert.deepEqual(segments[0], { id: 0, start: 0, end: 1.5, text: segments[0].text, ...figures });
  assert.equal(segments[0].text.trim(), TEXT);
});

test('R-421: words are there when they are asked for, and segments unless only words are', async () => {
  const words = (await booth.heard(caller, verbose({ 'timestamp_granularities[]': 'word' }))).json;
  assert.equal(words.segments, undefined);
  assert.deepEqual(words.words[0], { word: 'Hello', start: 0, end: 0.3 });
  assert.equal(words.words.length, 5);
});

test('R-422: when the first byte is sent the result has been saved', async () => {
  const answer = await booth.heard(caller, clipForm(WAV));
  const saved = await booth.read(caller, idOf(answer));
  assert.deepEqual([saved.status, saved.json.status, saved.json.settlement_state], [200, 'completed', 'settled']);
  assert.equal(saved.json.result.text, answer.json.text);
});

test('R-423, R-424: the answer has an id of our own, also when the caller sent one', async () => {
  const own = idOf(await booth.heard(caller, clipForm(WAV)));
  for (const given of ['mine', own, 'req_000000000000000000000000']) {
    const { raw, headers } = clipForm(WAV);
    assert.ok(raw !== undefined);
    const answer = await booth.heard(caller, { raw, headers: { ...headers, 'x-request-id': given } });
    assert.notEqual(idOf(answer), given);
    const request = await booth.gateway.call('GET', `/v1/requests/${idOf(answer)}`, { key: caller.key });
    assert.deepEqual([request.json.status, request.json.credits], ['settled', PRICE]);
  }
  assert.equal((await booth.read(caller, 'mine')).status, 404);
  // Before the credits are held it is an id like any other's.
  const refused = await booth.sent(caller, { body: { model: 'booth/open' }, headers: { 'x-request-id': 'mine' } });
  assert.deepEqual([refused.headers['x-request-id'], refused.headers.location], ['mine', undefined]);
});

test('R-425: the same request under the same id is another one, and is charged again', async () => {
  const { raw, headers } = clipForm(WAV);
  assert.ok(raw !== undefined);
  const ids = new Set<string>();
  for (let time = 0; time < 2; time++) {
    ids.add(idOf(await booth.heard(caller, { raw, headers: { ...headers, 'x-request-id': 'mine' } })));
  }
  assert.equal(ids.size, 2);
  assert.equal(booth.ear.recordings.length, 2);
  assert.equal((await moneyOf(booth.gateway, caller)).spent, 2 * PRICE);
});

test('R-423, R-441: an upstream that refuses the sound for good has failed, and nothing is charged', async () => {
  booth.ear.script({ kind: 'error', error: 'invalid' });
  await comesToNothing(await booth.sent(caller, clipForm(WAV)), '400 upstream_rejected', 'failed');
});

test('R-428: an answer without text is nothing, and nothing is charged', async () => {
  for (const words of [[], [' '], ['\n\t']]) {
    booth.ear.script({ kind: 'transcript', words });
    const answer = await booth.sent(caller, clipForm(WAV));
    await comesToNothing(answer, '502 empty_transcription_response', 'failed');
  }
  assert.equal(booth.ear.recordings.length, 3);
});

for (const [what, contentType, body] of [
  ['no bytes', 'application/json', ''],
  ['no bytes of text', 'text/plain', ''],
  ['white space', 'application/json', ' \n'],
  ['an empty object', 'application/json', '{}'],
  ['null', 'application/json', 'null'],
  ['null for a text', 'application/json', '{"text":null}'],
  ['a number for a text', 'application/json', '{"text":5}'],
] as const) {
  test(`R-428: ${what} for an answer is no transcript, and nothing is charged`, async () => {
    booth.ear.script({ kind: 'raw', contentType, body });
    const answer = await booth.sent(caller, clipForm(WAV));
    await comesToNothing(answer, '502 empty_transcription_response', 'failed');
  });
}

test('R-423, R-442: when nobody answers, the record is unavailable and nothing is charged', async () => {
  booth.ear.script({ kind: 'error', error: 'broken' }, { kind: 'error', error: 'broken' });
  await comesToNothing(await booth.sent(caller, clipForm(WAV)), '502 upstream_failed', 'unavailable');
});

test('R-423, R-427: an upstream that breaks off when it was done leaves nothing reliable', async () => {
  booth.ear.script({ kind: 'fault', fault: 'reset when done' });
  await comesToNothing(await booth.sent(caller, clipForm(WAV)), '502 upstream_failed', 'unavailable');
});

test('R-423: an upstream that stays silent is a timeout of ours', async () => {
  await booth.gateway.putConfig(booth.document(undefined, { ear: { timeout_seconds: 1 } }));
  booth.ear.script({ kind: 'fault', fault: 'silence' });
  await comesToNothing(await booth.sent(caller, clipForm(WAV)), '504 request_timeout', 'unavailable');
});

test('what fails at one upstream is heard by the next, and charged once', async () => {
  booth.ear.script({ kind: 'error', error: 'broken' });
  const answer = await booth.heard(caller, clipForm(WAV, { model: 'booth/both' }));
  assert.equal(answer.json.text, TEXT);
  assert.equal(booth.open.recordings.length, 1);
  assert.equal((await booth.read(caller, idOf(answer))).json.status, 'completed');
  assert.deepEqual(await moneyOf(booth.gateway, caller), paid);
});

const MIB = 1024 * 1024;

test('R-429, R-430: an answer over 32 MiB is refused whole, not passed on, and not asked for elsewhere', async () => {
  const text = 'x'.repeat(32 * MIB);
  booth.ear.script({ kind: 'transcript', words: [text] });
  const answer = await booth.sent(caller, clipForm(WAV, { model: 'booth/both' }));
  await comesToNothing(answer, '502 upstream_response_too_large', 'unavailable');
  assert.equal(booth.open.recordings.length, 0);
});

test('R-429: a result of 32 MiB is saved and answered, and one byte more is refused', async () => {
  const bytes = 32 * MIB - Buffer.byteLength(JSON.stringify({ text: '' }));
  for (const [length, status] of [
    [bytes, 200],
    [bytes + 1, 502],
  ] as const) {
    booth.ear.script({ kind: 'transcript', change: () => ({ text: 'x'.repeat(length) }) });
    const answer = await booth.sent(caller, clipForm(WAV));
    assert.equal(answer.status, status, answer.text.slice(0, 300));
    assert.equal(answer.text.length > length, status === 200);
  }
});

test('R-450: a caller who leaves is charged for what the upstream made, and finds it', async () => {
  const gate = Promise.withResolvers<void>();
  booth.ear.script({ kind: 'transcript', after: gate.promise });
  const agent = new Agent();
  const { raw = '', headers = {} } = clipForm(WAV);
  const leaving = new AbortController();
  const left = request(booth.gateway.url + TRANSCRIPTIONS, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${caller.key}` },
    body: raw,
    signal: leaving.signal,
    dispatcher: agent,
  });
  await until(() => booth.ear.recordings.length === 1);
  leaving.abort();
  await assert.rejects(left);
  await agent.destroy();
  assert.deepEqual(await moneyOf(booth.gateway, caller), { available: 1000 - PRICE, reserved: PRICE, spent: 0 });
  gate.resolve();
  await until(async () => (await moneyOf(booth.gateway, caller)).spent === PRICE);
  const entries = await booth.gateway.call('GET', '/v1/credits/transactions', { key: caller.key });
  const id = entries.json.data[0].request_id;
  const { json } = await booth.read(caller, id);
  assert.deepEqual([json.status, json.settlement_state, json.result.text], ['completed', 'settled', TEXT]);
  assert.deepEqual(await moneyOf(booth.gateway, caller), paid);
});

test('a caller who leaves before the credits are held leaves nothing behind', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  const { database, clock } = booth.gateway;
  const other = await booth.another({ database, clock, log });
  const leaving = new AbortController();
  booth.clips.set('/slow.wav', WAV);
  const url = booth.target.at('127.0.0.1', '/slow.wav');
  const held = Promise.withResolvers<void>();
  booth.beforeClip = async () => {
    leaving.abort();
    await held.promise;
  };
  const asked = {
    method: 'POST',
    body: JSON.stringify({ model: 'booth/strict', url }),
    signal: leaving.signal,
  } as const;
  const headers = { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' };
  await assert.rejects(request(other.url + TRANSCRIPTIONS, { ...asked, headers }));
  await until(() => lines.some((line) => line.includes('request_canceled')));
  held.resolve();
  await other.stop();
  assert.doesNotMatch(lines.join(''), /unexpected error/);
  assert.deepEqual(await moneyOf(booth.gateway, caller), free);
  await booth.assertNothingStored();
});

test('R-423, R-439: a caller who waits too long is told so, and the work goes on to its end', async () => {
  const gate = Promise.withResolvers<void>();
  booth.ear.script({ kind: 'transcript', after: gate.promise });
  const sent = booth.sent(caller, clipForm(WAV));
  await until(() => booth.ear.recordings.length === 1);
  booth.gateway.clock.advance(601);
  const answer = await sent;
  assert.equal(toldBy(answer), '504 request_timeout');
  assert.equal(answer.headers['x-should-retry'], 'false');
  const id = idOf(answer);
  const open = await booth.read(caller, id);
  assert.deepEqual([open.status, open.json.status, open.json.settlement_state], [202, 'processing', 'pending']);
  gate.resolve();
  assert.equal((await booth.inState(caller, id, 'completed')).result.text, TEXT);
  assert.deepEqual(await moneyOf(booth.gateway, caller), paid);
});

test('R-438: nothing of an answer or a record says which upstream it was', async () => {
  const answer = await booth.heard(caller, verbose());
  const saved = await booth.read(caller, idOf(answer));
  for (const { text, headers } of [answer, saved]) {
    assert.doesNotMatch(text + JSON.stringify(headers), new RegExp(`${MARKER}|whisper|openai`));
  }
});

test('the clip is gone from the store once it has been heard', async () => {
  await booth.heard(caller, clipForm(WAV));
  await booth.assertNothingStored();
  assert.deepEqual(storedFiles(booth.gateway), []);
});

test('many at once on a balance for some: exactly those are heard, and the rest is refused', async () => {
  const poor = await paidCaller(booth.gateway, 4 * PRICE);
  const answers = await Promise.all(Array.from({ length: 10 }, () => booth.sent(poor, clipForm(WAV))));
  const statuses = answers.map(({ status }) => status).sort((one, other) => one - other);
  assert.deepEqual(statuses, [200, 200, 200, 200, 402, 402, 402, 402, 402, 402]);
  assert.deepEqual(await moneyOf(booth.gateway, poor), { available: 0, reserved: 0, spent: 4 * PRICE });
  assert.ok((await entriesOf(booth.gateway)) > 0);
});
