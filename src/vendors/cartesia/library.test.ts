import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Cartesia from '@cartesia/cartesia-js';
import { toneAs } from '../../../test/support/media-samples.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import { SPEECH } from './emulator/checks.ts';
import { CartesiaEmulator, soundFor, VOICE } from './emulator.ts';

const tone = await toneAs('wav', { seconds: 2, sampleRate: 16_000 });
const fileOf = (bytes: Buffer) => new File([new Uint8Array(bytes)], 'a.wav', { type: 'audio/wav' });

describe('the vendor’s own library takes the emulator for the vendor', () => {
  const emulator = new CartesiaEmulator(KEY, MARKER);
  const clientOf = (apiKey: string) => new Cartesia({ apiKey, baseURL: emulator.url, maxRetries: 0 });
  let client: Cartesia;
  before(async () => {
    await emulator.start();
    client = clientOf(KEY);
  });
  after(() => emulator.stop());

  const plain: Cartesia.TTSGenerateParams = {
    model_id: 'sonic-3.5',
    transcript: 'Grüße 😀',
    voice: { id: VOICE },
    output_format: { container: 'mp3', sample_rate: 44_100, bit_rate: 192_000 },
  };

  test('a text is spoken with every field that there is', async () => {
    const request = {
      ...plain,
      generation_config: { emotion: 'calm', speed: 0.6, volume: 2 },
      language: 'de',
      normalization: 'auto',
      pronunciation_dict_id: 'd1',
      save: true,
      speed: 'slow',
    } satisfies Cartesia.TTSGenerateParams;
    const answer = await client.tts.generate(request);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), await soundFor({ ...request.output_format }));
    assert.deepEqual(emulator.submissions.at(-1)?.fields, request);
    assert.deepEqual(
      Object.keys(SPEECH).filter((name) => !(name in request)),
      ['locale'],
    );
  });

  test('a clip is transcribed, with times and without', async () => {
    const listen = (timed: boolean) =>
      client.stt.transcribe({
        file: fileOf(tone),
        model: 'ink-whisper',
        language: 'en',
        ...(timed && { timestamp_granularities: ['word'] }),
      });
    const [bare, timed] = [await listen(false), await listen(true)];
    assert.deepEqual([bare.text, bare.duration, bare.words], ['Hello there. Hi.', 2, undefined]);
    assert.deepEqual(timed.words?.[0], { word: 'Hello', start: 0, end: 0.4 });
  });

  test('voices are listed', async () => {
    const page = await client.voices.list({ limit: 1 });
    assert.equal(page.data[0]?.id, VOICE);
  });

  const REFUSED: readonly [name: string, fields: object, status: number][] = [
    ['an empty text', { transcript: '' }, 400],
    ['an unknown voice', { voice: 'nobody' }, 404],
    ['a voice of an older version', { voice: { mode: 'embedding', embedding: [1] } }, 400],
    ['an unknown model', { model_id: 'sonic-9' }, 404],
    ['an unknown field', { odd: 1 }, 400],
    ['a language and a locale', { language: 'en', locale: 'en-GB' }, 400],
    ['a speed beyond its range', { generation_config: { speed: 1.6 } }, 400],
    ['an unknown setting', { generation_config: { odd: 1 } }, 400],
    ['a format without its rate', { output_format: { container: 'mp3', bit_rate: 128_000 } }, 400],
    ['a bitrate of another format', { output_format: { container: 'wav', sample_rate: 8000, bit_rate: 32_000 } }, 400],
  ];
  for (const [name, fields, status] of REFUSED) {
    test(`speech with ${name} is refused`, () =>
      assert.rejects(async () => client.tts.generate({ ...plain, ...fields }), { status }));
  }

  test('another key, another version, another language and what is no sound are refused', async () => {
    await assert.rejects(async () => clientOf('other').voices.list(), { status: 401 });
    const headers = { authorization: `Bearer ${KEY}` };
    assert.equal((await fetch(`${emulator.url}/voices`, { headers })).status, 400);
    const listen = (file: File, language: string) => client.stt.transcribe({ file, model: 'ink-whisper', language });
    await assert.rejects(async () => listen(fileOf(tone), 'en-US'), { status: 400 });
    await assert.rejects(async () => listen(fileOf(Buffer.from('no sound')), 'en'), { status: 400 });
  });
});
