import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { FishAudioClient } from 'fish-audio';
import { toneAs } from '../../../test/support/media-samples.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import { SPEECH } from './emulator/checks.ts';
import { FishAudioEmulator, soundFor, VOICE } from './emulator.ts';

const tone = await toneAs('wav', { seconds: 2, sampleRate: 16_000 });
const fileOf = (bytes: Buffer) => new File([new Uint8Array(bytes)], 'a.wav', { type: 'audio/wav' });
const ONCE = { maxRetries: 0 };

describe('the vendor’s own library takes the emulator for the vendor', () => {
  const emulator = new FishAudioEmulator(KEY, MARKER);
  const clientOf = (apiKey: string) => new FishAudioClient({ apiKey, baseUrl: emulator.url });
  let client: FishAudioClient;
  before(async () => {
    await emulator.start();
    client = clientOf(KEY);
  });
  after(() => emulator.stop());

  test('a text is spoken with every field of the library, and samples of a voice', async () => {
    const request = {
      text: 'Grüße 😀',
      temperature: 0.7,
      top_p: 1,
      references: [{ audio: fileOf(tone), text: 'A tone.' }],
      reference_id: VOICE,
      prosody: { speed: 1.5, volume: -3 },
      chunk_length: 200,
      normalize: true,
      format: 'mp3' as const,
      sample_rate: 44_100,
      mp3_bitrate: 192 as const,
      latency: 'balanced' as const,
    };
    const sound = Buffer.concat(await Array.fromAsync(await client.textToSpeech.convert(request, 's1', ONCE)));
    assert.deepEqual(sound, await soundFor('mp3', 44_100));
    const { fields, model } = emulator.submissions.at(-1) ?? assert.fail();
    // The emulator’s reader of MessagePack, by which the adaptor’s writer is held, read what the library wrote.
    assert.deepEqual(fields, { ...request, references: [{ audio: tone, text: 'A tone.' }] });
    assert.equal(model, 's1');
    assert.deepEqual(
      Object.keys(request).filter((name) => !(name in SPEECH)),
      [],
    );
  });

  test('a clip is transcribed, with times and without', async () => {
    const listen = (ignore_timestamps?: boolean) =>
      client.speechToText.convert(
        { audio: fileOf(tone), language: 'en', ...(ignore_timestamps !== undefined && { ignore_timestamps }) },
        ONCE,
      );
    const [plain, timed] = [await listen(), await listen(false)];
    assert.deepEqual([plain.text, plain.duration, plain.segments], ['Hello there. Hi.', 2, []]);
    assert.deepEqual(timed.segments[0], { text: 'Hello', start: 0.16, end: 0.48 });
  });

  test('the balance is told', async () => {
    assert.equal((await client.user.get_api_credit(ONCE)).credit, '7.5');
  });

  const REFUSED: readonly [name: string, fields: object, status: number][] = [
    ['an empty text', { text: '' }, 422],
    ['an unknown voice', { reference_id: 'nobody' }, 400],
    ['an unknown field', { odd: 1 }, 422],
    ['a speed beyond its range', { prosody: { speed: 2.1 } }, 422],
    ['an unknown setting', { prosody: { odd: 1 } }, 422],
    ['a bitrate of another format', { format: 'wav', mp3_bitrate: 128 }, 422],
    ['a bitrate that it does not make', { mp3_bitrate: 96 }, 422],
    ['a rate that the format lacks', { format: 'opus', sample_rate: 44_100 }, 400],
    ['a format that it does not make', { format: 'flac' }, 422],
  ];
  for (const [name, fields, statusCode] of REFUSED) {
    test(`speech with ${name} is refused`, () =>
      assert.rejects(async () => client.textToSpeech.convert({ text: 'Hi', ...fields }, 's1', ONCE), { statusCode }));
  }

  test('samples in JSON, another key, another language and what is no sound are refused', async () => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ text: 'Hi', references: [{ audio: 'aGk=', text: '' }] });
    assert.equal((await fetch(`${emulator.url}/v1/tts`, { method: 'POST', headers, body })).status, 422);
    const broken = { method: 'POST', headers: { ...headers, 'content-type': 'application/msgpack' }, body };
    assert.equal((await fetch(`${emulator.url}/v1/tts`, broken)).status, 400);
    await assert.rejects(async () => clientOf('other').user.get_api_credit(ONCE), { statusCode: 401 });
    const listen = (audio: File, language?: string) =>
      client.speechToText.convert({ audio, ...(language !== undefined && { language }) }, ONCE);
    await assert.rejects(async () => listen(fileOf(tone), 'en-US'), { statusCode: 400 });
    await assert.rejects(async () => listen(fileOf(Buffer.from('no sound'))), { statusCode: 400 });
  });

  test('a model that it does not know is another one, and no error', async () => {
    const answer = await client.textToSpeech.convert({ text: 'Hi' }, 'S1' as 's1', ONCE);
    await Array.fromAsync(answer);
    assert.equal(emulator.submissions.at(-1)?.model, 's2.1-pro');
  });
});
