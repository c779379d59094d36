import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { AssemblyAiEmulator } from '../src/vendors/assemblyai/emulator.ts';
import { ElevenLabsEmulator } from '../src/vendors/elevenlabs/emulator.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { CLIP, CLIP_PRICE, clipForm, SECOND_PRICE, TRANSCRIPTIONS } from './support/booth.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { PRICE, SPEECH } from './support/speech-studio.ts';

const MARKER = 'marker-of-a-vendor';
const KEY = 'sk-upstream';
const COOLED_SECONDS = 3600;
const INPUT = 'Good day.';

const first = new OpenAiEmulator({ apiKey: KEY, models: ['tts-1', 'whisper-1'], marker: MARKER });
const second = new ElevenLabsEmulator({ apiKey: KEY, marker: MARKER });
const third = new AssemblyAiEmulator({ apiKey: KEY, marker: MARKER, readsUntilDone: 0 });
let gateway: Gateway;
before(async () => {
  await Promise.all([first.start(), second.start(), third.start()]);
  gateway = await Gateway.start();
  await gateway.putConfig({
    upstreams: [
      { id: 'first', vendor: 'openai', base_url: first.url, api_key: KEY, priority: 3 },
      { id: 'second', vendor: 'elevenlabs', base_url: second.url, api_key: KEY, priority: 2 },
      { id: 'third', vendor: 'assemblyai', base_url: third.url, api_key: KEY, priority: 1 },
    ],
    models: [
      {
        id: 'both/voice',
        modality: 'audio',
        owned_by: 'both',
        endpoints: ['audio_speech'],
        pricing: { mode: 'per_k_char', credits: { base: PRICE.characters } },
        routes: [
          { upstream: 'first', model: 'tts-1' },
          { upstream: 'second', model: 'eleven_flash_v2_5' },
        ],
      },
      {
        id: 'all/ears',
        modality: 'audio',
        owned_by: 'all',
        endpoints: ['transcriptions'],
        pricing: { mode: 'per_audio_second', credits: { per_second: SECOND_PRICE } },
        routes: [
          { upstream: 'first', model: 'whisper-1' },
          { upstream: 'second', model: 'scribe_v2' },
          { upstream: 'third', model: 'universal-2' },
        ],
      },
    ],
  });
});
after(async () => {
  await gateway.stop();
  await Promise.all([first.stop(), second.stop(), third.stop()]);
});

const counts = () => [first, second, third].map(({ requests }) => requests.length);
let known = [0, 0, 0];
let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(gateway, 1000);
  gateway.clock.advance(COOLED_SECONDS);
  known = counts();
});
afterEach(() => gateway.assertBooksBalance());

const speak = () =>
  gateway.call('POST', SPEECH, { key: caller.key, body: { model: 'both/voice', input: INPUT, voice: VOICE } });
const hear = () => gateway.call('POST', TRANSCRIPTIONS, { ...clipForm(CLIP, { model: 'all/ears' }), key: caller.key });
const asked = () => counts().map((count, place) => count > (known[place] ?? 0));

/** A name that every one of them takes. */
const VOICE = 'alloy';

/** For an upstream that is asked again and again. */
async function whileTimePasses<Result>(work: Promise<Result>): Promise<Result> {
  const timer = setInterval(() => gateway.clock.advance(0.05), 5);
  return work.finally(() => clearInterval(timer));
}

/** Nothing of it says who gave it. */
function assertUnnamed({ headers, text }: Answer): void {
  const told = JSON.stringify(headers) + text;
  assert.doesNotMatch(told, new RegExp(`${MARKER}|eleven|whisper|tts-1|scribe|universal|openai`, 'i'));
}

test('R-389: speech that one vendor cannot give comes from another, and is charged once', async () => {
  assert.equal((await speak()).status, 200);
  assert.deepEqual(asked(), [true, false, false]);
  first.script({ kind: 'error', error: 'broken' });
  const answer = await speak();
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual([answer.headers['content-type'], asked()], ['audio/mpeg', [true, true, false]]);
  assertUnnamed({ ...answer, text: '' });
  const cost = (2 * INPUT.length * PRICE.characters) / 1000;
  assert.deepEqual(await moneyOf(gateway, caller), { available: 1000 - cost, reserved: 0, spent: cost });
});

test('R-422: a transcript goes from vendor to vendor until one hears, and is charged once', async () => {
  first.script({ kind: 'error', error: 'slowDown' });
  const answer = await hear();
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(asked(), [true, true, false]);
  assertUnnamed(answer);
  assert.deepEqual(await moneyOf(gateway, caller), { available: 1000 - CLIP_PRICE, reserved: 0, spent: CLIP_PRICE });

  // The first is left alone for a while now, and the second fails too.
  second.refuse('busy');
  const last = await whileTimePasses(hear());
  assert.equal(last.status, 200, last.text);
  assert.deepEqual(asked(), [true, true, true]);
  assert.equal(third.tasks.length, 1);
  assertUnnamed(last);
  const spent = 2 * CLIP_PRICE;
  assert.deepEqual(await moneyOf(gateway, caller), { available: 1000 - spent, reserved: 0, spent });
});
