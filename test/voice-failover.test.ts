import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { DeepgramEmulator } from '../src/vendors/deepgram/emulator.ts';
import { ElevenLabsEmulator } from '../src/vendors/elevenlabs/emulator.ts';
import { FishAudioEmulator } from '../src/vendors/fish-audio/emulator.ts';
import { CLIP, CLIP_PRICE, clipForm, SECOND_PRICE, TRANSCRIPTIONS } from './support/booth.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { PRICE, SPEECH } from './support/speech-studio.ts';
import { upstreamHealth } from './support/upstream-health.ts';

// One model of two vendors whose limits differ: what the first cannot take or pay for, the second does.
const [KEY, MARKER] = ['upstream-key', 'mk7V'];
const CREDITS = 1000;

let gateway: Gateway;
let caller: NewCaller;
let deepgram: DeepgramEmulator;
let elevenlabs: ElevenLabsEmulator;
let fish: FishAudioEmulator;

before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());

beforeEach(async () => {
  deepgram = new DeepgramEmulator(KEY, MARKER);
  elevenlabs = new ElevenLabsEmulator({ apiKey: KEY, marker: MARKER });
  fish = new FishAudioEmulator(KEY, MARKER);
  await Promise.all([deepgram.start(), elevenlabs.start(), fish.start()]);
  await gateway.putConfig({
    upstreams: [
      { id: 'deepgram', vendor: 'deepgram', base_url: deepgram.url, api_key: KEY, priority: 3 },
      { id: 'elevenlabs', vendor: 'elevenlabs', base_url: elevenlabs.url, api_key: KEY, priority: 2 },
      { id: 'fish', vendor: 'fish-audio', base_url: fish.url, api_key: KEY, priority: 1 },
    ],
    models: [
      {
        id: 'both/voice',
        modality: 'audio',
        owned_by: 'both',
        endpoints: ['audio_speech'],
        pricing: { mode: 'per_k_char', credits: { base: PRICE.characters } },
        routes: [
          { upstream: 'deepgram', model: 'aura-2-thalia-en' },
          { upstream: 'elevenlabs', model: 'eleven_flash_v2_5' },
        ],
      },
      {
        id: 'both/ears',
        modality: 'audio',
        owned_by: 'both',
        endpoints: ['transcriptions'],
        pricing: { mode: 'per_audio_second', credits: { per_second: SECOND_PRICE } },
        routes: [
          { upstream: 'deepgram', model: 'nova-3' },
          { upstream: 'fish', model: 'transcribe-1' },
        ],
      },
    ],
  });
  caller = await paidCaller(gateway, CREDITS);
});
afterEach(async () => {
  await gateway.assertBooksBalance();
  await Promise.all([deepgram.stop(), elevenlabs.stop(), fish.stop()]);
});

function speak(input: string, voice = 'zeus'): Promise<Answer> {
  return gateway.call('POST', SPEECH, { key: caller.key, body: { model: 'both/voice', input, voice } });
}

function transcribe(): Promise<Answer> {
  return gateway.call('POST', TRANSCRIPTIONS, { ...clipForm(CLIP, { model: 'both/ears' }), key: caller.key });
}

const counts = () => [deepgram, elevenlabs, fish].map(({ requests }) => requests.length);

async function assertSpent(spent: number): Promise<void> {
  assert.deepEqual(await moneyOf(gateway, caller), { available: CREDITS - spent, reserved: 0, spent });
}

function assertSuccess({ status, headers, text }: Answer): void {
  assert.equal(status, 200, text);
  assert.doesNotMatch(JSON.stringify(headers), new RegExp(`${MARKER}|deepgram|eleven|fish|aura|nova`));
}

const priceOf = (input: string) => (input.length * PRICE.characters) / 1000;

test('R-389: speech goes to another vendor while the account of the first is empty', async () => {
  const input = 'Good day.';
  assertSuccess(await speak(input));
  assert.deepEqual(counts(), [1, 0, 0]);
  deepgram.isBroke = true;
  assertSuccess(await speak(input));
  assertSuccess(await speak(input));
  // The first was asked once more, and is left alone since.
  assert.deepEqual(counts(), [2, 2, 0]);
  assert.equal((await upstreamHealth(gateway, 'deepgram')).whole.state, 'open');
  await assertSpent(3 * priceOf(input));
});

test('R-422: a transcript comes from another vendor while the account of the first is empty', async () => {
  deepgram.isBroke = true;
  const answers = [await transcribe(), await transcribe()];
  for (const answer of answers) {
    assertSuccess(answer);
    assert.equal(answer.json.text, 'Hello there. Hi.');
  }
  assert.deepEqual(counts(), [1, 0, 2]);
  assert.equal((await upstreamHealth(gateway, 'deepgram')).whole.state, 'open');
  await assertSpent(2 * CLIP_PRICE);
});

test('an empty account is empty for every kind of work', async () => {
  deepgram.isBroke = true;
  assertSuccess(await transcribe());
  assertSuccess(await speak('Good day.'));
  assert.deepEqual(counts(), [1, 1, 1]);
  await assertSpent(CLIP_PRICE + priceOf('Good day.'));
});

test('a text that is too long for one vendor goes to the other at once', async () => {
  const input = 'a'.repeat(2001);
  assertSuccess(await speak(input));
  assert.deepEqual(counts(), [0, 1, 0]);
  await assertSpent(priceOf(input));
});

test('a voice that one vendor lacks is spoken by the other, and is no strike', async () => {
  assertSuccess(await speak('Good day.', 'alloy'));
  assert.deepEqual(counts(), [1, 1, 0]);
  const { whole, model } = await upstreamHealth(gateway, 'deepgram');
  assert.deepEqual([whole.state, model.state], ['closed', 'closed']);
  assertSuccess(await speak('Good day.'));
  assert.deepEqual(counts(), [2, 1, 0]);
  await assertSpent(2 * priceOf('Good day.'));
});
