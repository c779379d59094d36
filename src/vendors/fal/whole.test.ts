import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { CLIP, CLIP_PRICE, clipForm, SECOND_PRICE, TRANSCRIPTIONS } from '../../../test/support/booth.ts';
import { createDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { Gateway, type NewCaller } from '../../../test/support/gateway.ts';
import { rowsOf } from '../../../test/support/keeping.ts';
import { toneAs } from '../../../test/support/media-samples.ts';
import { moneyOf, paidCaller } from '../../../test/support/paid-calls.ts';
import { until } from '../../../test/support/postgres.ts';
import { SPEECH } from '../../../test/support/speech-studio.ts';
import { upstreamHealth } from '../../../test/support/upstream-health.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { FalEmulator, type Script } from './emulator.ts';

// Speech and transcripts in the whole program.
const PRICE = 5;
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
const sound = await toneAs('wav', { seconds: 1, sampleRate: 16_000 });
let database: TestDatabase;
let gateway: Gateway;
let voices: [FalEmulator, FalEmulator];
let ears: [FalEmulator, FalEmulator];
let caller: NewCaller;

function start(): Promise<Gateway> {
  return Gateway.start({ database, settings: { TOLLGATE_FETCH_ALLOW: '127.0.0.1' } });
}

before(async () => {
  database = await createDatabase();
  gateway = await start();
});
after(async () => {
  await gateway.stop();
  await database.drop();
});

beforeEach(async () => {
  const voice = () => new FalEmulator({ apiKey: KEY, marker: MARKER, isDirect: true, files: { audio: sound } });
  const ear = () => new FalEmulator({ apiKey: KEY, marker: MARKER, readsUntilDone: 2 });
  voices = [voice(), voice()];
  ears = [ear(), ear()];
  await Promise.all([...voices, ...ears].map((emulator) => emulator.start()));
  const upstreams = [...voices, ...ears].map(({ url }, at) => {
    return { id: `fal-${at}`, vendor: 'fal', base_url: url, api_key: KEY, priority: 9 - at, timeout_seconds: 60 };
  });
  const routesTo = (model: string, ...at: readonly number[]) =>
    at.map((place) => ({ upstream: `fal-${place}`, model }));
  await gateway.putConfig({
    upstreams,
    models: [
      {
        id: 'studio/voice',
        modality: 'audio',
        owned_by: 'studio',
        endpoints: ['audio_speech'],
        pricing: { mode: 'per_request', credits: { base: PRICE } },
        routes: routesTo('fal-ai/kokoro/american-english', 0, 1),
      },
      {
        id: 'studio/ears',
        modality: 'audio',
        owned_by: 'studio',
        endpoints: ['transcriptions'],
        pricing: { mode: 'per_audio_second', credits: { per_second: SECOND_PRICE } },
        routes: routesTo('fal-ai/whisper', 2, 3),
      },
    ],
  });
  caller = await paidCaller(gateway);
});
afterEach(async () => {
  await gateway.assertBooksBalance();
  await Promise.all([...voices, ...ears].map((emulator) => emulator.stop()));
});

const paid = (credits: number) => ({ available: 1000 - credits, reserved: 0, spent: credits });
const tasks = (emulators: readonly FalEmulator[]) => emulators.map((emulator) => emulator.tasks.length);

function speak(fields: object = {}) {
  const body = { model: 'studio/voice', input: 'Hello there.', voice: 'af_sky', ...fields };
  return gateway.call('POST', SPEECH, { key: caller.key, body });
}

function hear(fields: Record<string, string> = {}) {
  const form = clipForm(CLIP, { model: 'studio/ears', ...fields });
  return gateway.call('POST', TRANSCRIPTIONS, { ...form, key: caller.key });
}

/** For an upstream that is polled again and again. */
async function whileTimePasses<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(() => gateway.clock.advance(0.05), 5);
  return work.finally(() => clearInterval(timer));
}

describe('speech', () => {
  test('the sound is fetched from where it was put, without the key, and charged once', async () => {
    const answer = await speak({ output: 'b64_json' });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(answer.text.includes(sound.toString('base64')));
    assert.deepEqual(
      voices[0].files.requests.map(({ hasKey }) => hasKey),
      [false],
    );
    assert.doesNotMatch(JSON.stringify(answer.headers), new RegExp(`${MARKER}|fal|kokoro`));
    assert.deepEqual(await moneyOf(gateway, caller), paid(PRICE));
    const streamed = await speak();
    assert.deepEqual([streamed.status, streamed.headers['content-type']], [200, 'audio/wav']);
  });

  test('a field that the model does not take is refused before anything is held', async () => {
    const answer = await speak({ seed: 1 });
    assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
    assert.deepEqual([tasks(voices), await moneyOf(gateway, caller)], [[0, 0], UNTOUCHED]);
  });

  const FINAL: readonly [ErrorName, code: string][] = [
    ['invalid', 'upstream_rejected'],
    ['policy', 'content_rejected'],
  ];
  for (const [error, code] of FINAL) {
    test(`${error} is final and free of charge`, async () => {
      voices[0].script('submit', { kind: 'error', error });
      const answer = await speak();
      assert.deepEqual([answer.status, answer.json.error.code], [400, code], answer.text);
      assert.deepEqual([tasks(voices), await moneyOf(gateway, caller)], [[0, 0], UNTOUCHED]);
    });
  }

  const PASSING: readonly (readonly [name: string, script: Script])[] = [
    ['a throttle', { kind: 'error', error: 'throttled' }],
    ['an empty account', { kind: 'error', error: 'locked' }],
    ['garbled JSON', { kind: 'raw', body: '{"audio": ' }],
    ['an answer that is lost', { kind: 'fault', fault: 'reset after acceptance' }],
    ['a link that is dead', { kind: 'changed', change: () => ({ audio: { url: `${voices[0].files.url}/files/no` } }) }],
    ['a link to this machine’s inside', { kind: 'changed', change: () => ({ audio: { url: 'http://[::1]:9/a' } }) }],
  ];
  for (const [name, script] of PASSING) {
    test(`${name} is made good by another upstream, and charged once`, async () => {
      voices[0].script('submit', script, script);
      const answer = await speak();
      assert.equal(answer.status, 200, answer.text);
      assert.equal(voices[1].tasks.length, 1);
      assert.deepEqual(await moneyOf(gateway, caller), paid(PRICE));
      if (name !== 'an empty account') return;
      const { whole } = await upstreamHealth(gateway, 'fal-0');
      assert.equal(whole.state, 'open', JSON.stringify(whole));
    });
  }
});

describe('transcription', () => {
  test('a task is polled until it is over, and charged once', async () => {
    const answer = await whileTimePasses(hear({ response_format: 'verbose_json', language: 'en' }));
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.json.text, answer.json.segments.length], ['Hello there. Hi.', 2]);
    assert.deepEqual([tasks(ears), await moneyOf(gateway, caller)], [[1, 0], paid(CLIP_PRICE)]);
  });

  test('what is refused or lost goes elsewhere and is charged once, and a client’s fault is final', async () => {
    ears[0].script('submit', { kind: 'error', error: 'locked' });
    assert.equal((await whileTimePasses(hear())).status, 200);
    assert.deepEqual(tasks(ears), [0, 1]);
    gateway.clock.advance(3600);
    ears[0].script('submit', { kind: 'error', error: 'invalid' });
    const refused = await whileTimePasses(hear());
    assert.equal(refused.json.error?.code, 'upstream_rejected', refused.text);
    ears[0].script('submit', { kind: 'fault', fault: 'reset after acceptance' });
    const lost = await whileTimePasses(hear());
    assert.equal(lost.status, 200, lost.text);
    // The one whose answer was lost is not asked again for the same.
    assert.deepEqual([tasks(ears), await moneyOf(gateway, caller)], [[1, 2], paid(2 * CLIP_PRICE)]);
  });

  test('a task that outlives its process is polled by the next one', async () => {
    const lost = hear();
    lost.catch(() => undefined);
    const records = () =>
      rowsOf<{ id: string }>(gateway, 'select id from transcriptions where account_id = $1 and task is not null', [
        caller.accountId,
      ]);
    await until(async () => (await records()).length === 1);
    const [{ id } = assert.fail()] = await records();
    await gateway.stop(0);
    await assert.rejects(lost);
    gateway = await start();
    await until(async () => {
      gateway.clock.advance(5);
      const record = await gateway.call('GET', `${TRANSCRIPTIONS}/${id}`, { key: caller.key });
      return record.json?.status === 'completed';
    });
    assert.deepEqual([tasks(ears), await moneyOf(gateway, caller)], [[1, 0], paid(CLIP_PRICE)]);
  });
});
