import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { request } from 'undici';
import { soundAs } from '../src/vendors/openai/emulator/audio.ts';
import type { NewCaller } from './support/gateway.ts';
import { rowsOf } from './support/keeping.ts';
import { picture, toneAs } from './support/media-samples.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { heard, MARKER, OpenSound, PRICE, piecewise, SpeechStudio, voiceModel } from './support/speech-studio.ts';

const MIB = 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;
const UNTOUCHED = { available: 10_000, reserved: 0, spent: 0 };
const TYPES = {
  mp3: ['audio/mpeg', 'mp3'],
  wav: ['audio/wav', 'wav'],
  pcm: ['audio/pcm; rate=24000; channels=1', 'pcm'],
  opus: ['audio/ogg', 'ogg'],
  flac: ['audio/flac', 'flac'],
  aac: ['audio/aac', 'aac'],
} as const;

const studio = new SpeechStudio();
before(() => studio.start({}, [voiceModel('voice/single', { routes: [{ upstream: 'first', model: 'speaker' }] })]));
after(() => studio.stop());

let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(studio.gateway, 10_000);
});
afterEach(() => studio.rest());

const hear = (more = {}) => heard(studio.gateway, caller, more);

/** The answer in JSON, held to the contract. */
async function spoken(more: object) {
  const answer = await studio.speak(caller, { output: 'b64_json', ...more });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

for (const [format, [type, extension]] of Object.entries(TYPES)) {
  test(`R-389 R-390: ${format} comes as its bytes, its type and its name told by them`, async () => {
    const { status, headers, bytes, isCut } = await hear({ response_format: format });
    assert.deepEqual([status, isCut, headers['content-type']], [200, false, type]);
    assert.ok(bytes.equals(await soundAs(format)));
    assert.equal(headers['x-content-type-options'], 'nosniff');
    const disposition = new RegExp(`^inline; filename="speech-\\w{12}\\.${extension}"$`);
    assert.match(String(headers['content-disposition']), disposition);
    assert.match(String(headers['x-request-id']), /^req_/);
  });

  test(`R-391: ${format} as b64_json holds the same bytes and what they are`, async () => {
    const { b64_json, created, ...told } = await spoken({ response_format: format });
    assert.ok(Buffer.from(b64_json, 'base64').equals(await soundAs(format)));
    assert.ok(Math.abs(created - studio.gateway.clock.nowMs() / 1000) < 60);
    const { usage, seconds, ...rest } = told;
    assert.deepEqual(rest, { object: 'audio.speech', model: 'voice/characters', format, mime_type: type });
    assert.ok(seconds >= 0.5 && seconds < 0.6, `${seconds} seconds`);
    assert.deepEqual(usage, { characters: 9, audio_seconds: seconds, credits: (9 * PRICE.characters) / 1000 });
  });
}

test('R-389: what an upstream calls its sound does not matter', async () => {
  const wav = await soundAs('wav');
  studio.first.script({ kind: 'sound', contentType: 'application/octet-stream', pieces: [wav] });
  const { headers, bytes } = await hear({ response_format: 'mp3' });
  assert.deepEqual([headers['content-type'], bytes.equals(wav)], ['audio/wav', true]);
});

test('R-389: sound of no known kind goes as the usual one', async () => {
  const unknown = Buffer.concat([Buffer.alloc(6000, 0x81), await soundAs('mp3')]);
  studio.first.script({ kind: 'sound', contentType: 'audio/mpeg', pieces: [unknown] });
  const { headers, bytes } = await hear();
  assert.deepEqual([headers['content-type'], bytes.equals(unknown)], ['audio/mpeg', true]);
});

test('R-389: sound that comes byte by byte is known all the same', async () => {
  for (const format of ['mp3', 'wav', 'opus', 'flac', 'aac'] as const) {
    const bytes = await soundAs(format);
    const single = Array.from(bytes.subarray(0, 100), (byte) => Buffer.of(byte));
    studio.first.script({ kind: 'sound', contentType: 'audio/x', pieces: [...single, bytes.subarray(100)] });
    const got = await hear({ response_format: format });
    assert.deepEqual([got.headers['content-type'], got.bytes.equals(bytes)], [TYPES[format][0], true]);
  }
});

test('R-391: a sound in a container of either kind is one of sound alone', async () => {
  const m4a = await toneAs('m4a', { seconds: 1 });
  studio.first.script({ kind: 'sound', contentType: 'audio/mp4', pieces: [m4a] });
  const { format, mime_type, seconds } = await spoken({});
  assert.deepEqual([format, mime_type, Math.round(seconds)], ['m4a', 'audio/mp4', 1]);
});

test('R-391 R-392: url answers with a link that anybody can open for 15 minutes; what is behind it stays 30 days', async () => {
  const { url, b64_json, seconds, ...told } = await spoken({ output: 'url', response_format: 'wav' });
  assert.equal(b64_json, undefined);
  assert.deepEqual([told.format, told.mime_type, seconds], ['wav', 'audio/wav', 0.5]);
  const { pathname, search } = new URL(url);
  const open = () => request(studio.gateway.url + pathname + search);
  const { statusCode, headers, body } = await open();
  assert.deepEqual([statusCode, headers['content-type']], [200, 'audio/wav']);
  assert.ok(Buffer.from(await body.arrayBuffer()).equals(await soundAs('wav')));
  const kept = await rowsOf<{ deleteAt: Date }>(
    studio.gateway,
    'select delete_at as "deleteAt" from stored_objects where account_id = $1',
    [caller.accountId],
  );
  assert.deepEqual(
    kept.map(({ deleteAt }) => deleteAt.getTime() - studio.gateway.clock.nowMs()),
    [30 * DAY_MS],
  );
  studio.gateway.clock.advance(901);
  const late = await open();
  await late.body.dump();
  assert.equal(late.statusCode, 403);
});

test('R-392: without a store the answer falls back to b64_json', async () => {
  const folder = join(studio.gateway.config.dataFolder, 'objects');
  renameSync(folder, `${folder}-away`);
  try {
    const { url, b64_json, usage } = await spoken({ output: 'url' });
    assert.equal(url, undefined);
    assert.ok(Buffer.from(b64_json, 'base64').equals(await soundAs('mp3')));
    assert.equal(usage.credits, (9 * PRICE.characters) / 1000);
  } finally {
    renameSync(`${folder}-away`, folder);
  }
});

test('R-391: 32 MiB go inside JSON; one byte more is refused with what to ask for, and costs nothing', async () => {
  const frame = await soundAs('mp3');
  const sized = (bytes: number) => {
    const whole = Buffer.alloc(bytes);
    frame.copy(whole);
    return [whole];
  };
  studio.first.script({ kind: 'sound', pieces: sized(32 * MIB) });
  const { b64_json } = await spoken({ model: 'voice/single' });
  assert.equal(Buffer.byteLength(b64_json, 'base64'), 32 * MIB);
  const before = await moneyOf(studio.gateway, caller);
  studio.first.script({ kind: 'sound', pieces: sized(32 * MIB + 1) });
  const large = await studio.speak(caller, { model: 'voice/single', output: 'b64_json' });
  assert.deepEqual([large.status, large.json.error.code], [502, 'upstream_response_too_large']);
  assert.match(large.json.error.message, /"binary" or "url"/);
  assert.deepEqual(await moneyOf(studio.gateway, caller), before);
  studio.first.script({ kind: 'sound', pieces: sized(33 * MIB) });
  assert.equal((await hear({ model: 'voice/single' })).bytes.length, 33 * MIB);
});

test('R-395: of several clips binary brings the first, and each is charged', async () => {
  const [first, other] = [await soundAs('wav'), await toneAs('wav', { seconds: 2, sampleRate: 24_000 })];
  studio.first.script({ kind: 'sound', pieces: [first] }, { kind: 'sound', pieces: [other] }, { kind: 'sound' });
  const { bytes, trailers } = await hear({ model: 'voice/seconds', n: 3, response_format: 'wav' });
  assert.ok(bytes.equals(first));
  assert.equal(trailers['x-credits-charged'], String(3 * PRICE.second));
  assert.equal((await moneyOf(studio.gateway, caller)).spent, 3 * PRICE.second);
});

test('R-395: of several clips JSON brings every one, and each is charged', async () => {
  const other = await toneAs('wav', { seconds: 2, sampleRate: 24_000 });
  studio.first.script({ kind: 'sound' }, { kind: 'sound', pieces: [other] });
  const { data, usage, ...first } = await spoken({ model: 'voice/seconds', n: 2, response_format: 'wav' });
  assert.equal(data.length, 2);
  assert.equal(data[0].b64_json, first.b64_json);
  assert.ok(Buffer.from(data[1].b64_json, 'base64').equals(other));
  assert.deepEqual([data[0].seconds, data[1].seconds], [0.5, 2]);
  assert.deepEqual(usage, { characters: 18, audio_seconds: 2.5, credits: 2.5 * PRICE.second });
});

const BROKEN = { kind: 'error', error: 'broken' } as const;

test('R-395: clips that fail are neither delivered nor charged', async () => {
  for (const output of ['b64_json', 'url']) {
    studio.gateway.clock.advance(3600);
    // Each of the two is tried here, there, and here once more.
    studio.first.script({ kind: 'sound' }, ...Array.from({ length: 4 }, () => BROKEN));
    studio.second.script(BROKEN, BROKEN);
    const { data, usage } = await spoken({ model: 'voice/clips', n: 3, output });
    assert.deepEqual([data.length, usage.credits], [1, PRICE.clip]);
  }
});

test('R-395: when no clip is made the call fails and costs nothing', async () => {
  studio.first.script(BROKEN, BROKEN);
  studio.second.script(BROKEN);
  const answer = await studio.speak(caller, { n: 3, output: 'b64_json' });
  assert.deepEqual([answer.status, answer.json.error.code], [502, 'upstream_failed']);
  assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
});

const PNG = await picture('png', { width: 2, height: 2 });
for (const [what, pieces] of [
  ['nothing', []],
  ['JSON', [Buffer.from(`{"text": "${MARKER}"}`)]],
  ['JSON in pieces', [Buffer.from('{'), Buffer.from(`"text": "${MARKER}"}`)]],
  ['a page', [Buffer.from(`<!doctype html><title>${MARKER} ÄÖÜ</title>`)]],
  ['a long text', [Buffer.from(`${MARKER} `.repeat(1000))]],
  ['a picture', [PNG]],
] as const) {
  for (const output of ['binary', 'b64_json', 'url']) {
    test(`R-401: ${what} in place of sound is an empty response for ${output}, after another was asked`, async () => {
      const script = { kind: 'sound', contentType: 'audio/mpeg', pieces } as const;
      studio.first.script(script);
      studio.second.script(script);
      const answer = await studio.speak(caller, { output });
      assert.deepEqual([answer.status, answer.json?.error.code], [502, 'empty_audio_response'], answer.text);
      assert.ok(!JSON.stringify(answer).includes(MARKER));
      assert.deepEqual([studio.first.requests.length, studio.second.requests.length], [1, 1]);
      assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
    });
  }

  test(`R-401: ${what} in place of sound is made good by the next upstream`, async () => {
    studio.first.script({ kind: 'sound', contentType: 'audio/mpeg', pieces });
    const { status, bytes } = await hear();
    assert.deepEqual([status, bytes.equals(await soundAs('mp3'))], [200, true]);
  });
}

test('sound goes on as it comes: the first half is heard before the upstream has the second', async () => {
  for (const format of ['mp3', 'wav', 'pcm', 'opus'] as const) {
    const bytes = await soundAs(format);
    const half = Math.floor(bytes.length / 2);
    const arrived = Promise.withResolvers<void>();
    studio.first.script({
      kind: 'sound',
      pieces: piecewise(bytes.subarray(0, half), arrived.promise, bytes.subarray(half)),
    });
    await using sound = await OpenSound.open(studio.gateway, caller, { response_format: format });
    assert.ok((await sound.until(half)).equals(bytes.subarray(0, half)));
    arrived.resolve();
    assert.ok((await sound.rest()).bytes.equals(bytes));
  }
});

test('a few bytes that tell what they are do not wait for more', async () => {
  const bytes = await soundAs('mp3');
  const arrived = Promise.withResolvers<void>();
  studio.first.script({ kind: 'sound', pieces: piecewise(bytes.subarray(0, 8), arrived.promise, bytes.subarray(8)) });
  await using sound = await OpenSound.open(studio.gateway, caller);
  assert.equal((await sound.until(8)).length, 8);
  arrived.resolve();
  assert.ok((await sound.rest()).bytes.equals(bytes));
});

test('nothing of an upstream is in the headers of what it made', async () => {
  const { headers } = await hear();
  assert.ok(!JSON.stringify(headers).includes(MARKER));
  assert.deepEqual(
    Object.keys(headers).filter((name) => /openai|ratelimit/.test(name)),
    [],
  );
});

const LABELS = ['text/plain', 'text/html; charset=utf-8', 'application/json', 'application/octet-stream'];
for (const contentType of LABELS) {
  test(`R-389: sound that an upstream labels ${contentType} is known by its bytes`, async () => {
    for (const [format, mimeType] of [
      ['mp3', 'audio/mpeg'],
      ['wav', 'audio/wav'],
      ['ogg-opus', 'audio/ogg'],
    ] as const) {
      const bytes = await toneAs(format, { seconds: 1 });
      studio.first.script({ kind: 'sound', pieces: [bytes.subarray(0, 3), bytes.subarray(3)], contentType });
      const answer = await hear();
      assert.deepEqual([answer.status, answer.headers['content-type']], [200, mimeType]);
      assert.ok(answer.bytes.equals(bytes));
    }
    assert.equal(studio.second.requests.length, 0);
  });
}

test('R-401: a document that says what it is, is no sound', async () => {
  for (const body of ['{"error":{"message":"no"}}', '{"audio":"UklGRg=="}', '<html></html>', 'RIFF and so on', '']) {
    for (const contentType of ['application/json', 'text/plain']) {
      studio.first.script({ kind: 'raw', body, contentType });
      assert.equal((await hear()).status, 200);
      assert.equal(studio.second.requests.length, 1, body);
      await studio.rest();
    }
  }
});
