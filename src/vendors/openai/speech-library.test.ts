import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { soundAs } from './emulator/audio.ts';
import { KEY } from './emulator/calls.ts';
import { OpenAiEmulator } from './emulator.ts';

// The vendor's own client library against the emulator, which is so held to the vendor's own types and ways.

describe('the vendor’s own client library', () => {
  const emulator = new OpenAiEmulator({ apiKey: KEY });
  let client: OpenAI;
  before(async () => {
    await emulator.start();
    client = new OpenAI({ apiKey: KEY, baseURL: emulator.url, maxRetries: 0 });
  });
  after(() => emulator.stop());
  const ASKED = { model: 'gpt-4o-mini-tts', input: 'Hello there.', voice: 'coral' } as const;

  for (const format of ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const) {
    test(`speaks in ${format}`, async () => {
      const reply = await client.audio.speech.create({ ...ASKED, response_format: format });
      assert.match(String(reply.headers.get('content-type')), /^audio\//);
      assert.deepEqual(Buffer.from(await reply.arrayBuffer()), await soundAs(format));
    });
  }

  test('may be directed, hurried, and given a voice by its id', async () => {
    const voice = { id: 'voice_1' };
    const reply = await client.audio.speech.create({ ...ASKED, voice, instructions: 'Softly.', speed: 4 });
    assert.deepEqual(Buffer.from(await reply.arrayBuffer()), await soundAs('mp3'));
  });

  const REFUSED: readonly [name: string, fields: object, expected: object][] = [
    ['no text', { input: '' }, { param: 'input' }],
    ['a text that is too long', { input: 'a'.repeat(4097) }, { param: 'input' }],
    ['no voice', { voice: undefined }, { param: 'voice' }],
    ['an unknown voice', { voice: 'nobody' }, { param: 'voice' }],
    ['a voice with more than an id', { voice: { id: '1', name: 'x' } }, { param: 'voice' }],
    ['another kind of model', { model: 'gpt-x' }, { param: 'model' }],
    ['a format of ours', { response_format: 'ogg' }, { param: 'response_format' }],
    ['too much speed', { speed: 4.1 }, { param: 'speed' }],
    ['directions for a model that takes none', { model: 'tts-1', instructions: 'x' }, { param: 'instructions' }],
    ['a sample rate', { sample_rate: 24_000 }, { param: 'sample_rate', code: 'unknown_parameter' }],
  ];
  for (const [name, fields, expected] of REFUSED) {
    test(`is refused ${name}`, () =>
      assert.rejects(client.post('/audio/speech', { body: { ...ASKED, ...fields } }), {
        status: 400,
        type: 'invalid_request_error',
        ...expected,
      }));
  }

  test('is served what is at its bound', async () => {
    await client.audio.speech.create({ ...ASKED, input: '🎈'.repeat(4096), speed: 0.25 });
    assert.equal(emulator.speeches.at(-1)?.speed, 0.25);
  });
});
