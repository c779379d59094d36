import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { toneAs } from '../../../test/support/media-samples.ts';
import { KEY } from './emulator/calls.ts';
import { OpenAiEmulator } from './emulator.ts';

// The vendor's own client library against the emulator, which is so held to the vendor's own types and ways.

describe('the vendor’s own client library', async () => {
  const wave = await toneAs('wav', { seconds: 1 });
  const emulator = new OpenAiEmulator({ apiKey: KEY });
  let client: OpenAI;
  before(async () => {
    await emulator.start();
    client = new OpenAI({ apiKey: KEY, baseURL: emulator.url, maxRetries: 0 });
  });
  after(() => emulator.stop());
  const fileOf = (bytes: Buffer, name = 'a.wav', type = 'audio/wav') => toFile(bytes, name, { type });
  const text = 'Hello there. How are you?';

  test('reads JSON', async () => {
    const answer = await client.audio.transcriptions.create({ file: await fileOf(wave), model: 'whisper-1' });
    assert.deepEqual(answer, { text, usage: { type: 'duration', seconds: 1 } });
    const file = await fileOf(wave);
    const { usage } = await client.audio.transcriptions.create({ file, model: 'gpt-4o-transcribe', language: 'en' });
    assert.equal(usage?.type, 'tokens');
  });

  test('reads text', async () => {
    const file = await fileOf(wave);
    const asked = { file, model: 'whisper-1', response_format: 'text' } as const;
    assert.equal(await client.audio.transcriptions.create(asked), `${text}\n`);
  });

  test('reads verbose JSON, with the times that it asked for', async () => {
    const asked = { model: 'whisper-1', response_format: 'verbose_json' } as const;
    const usual = await client.audio.transcriptions.create({ file: await fileOf(wave), ...asked });
    assert.deepEqual([usual.language, usual.duration, usual.text], ['english', 1, text]);
    assert.deepEqual([usual.segments?.length, usual.words], [1, undefined]);
    const words = await client.audio.transcriptions.create({
      file: await fileOf(wave),
      ...asked,
      timestamp_granularities: ['word', 'segment'],
    });
    assert.deepEqual(words.words?.[0], { word: 'Hello', start: 0, end: 0.2 });
    assert.equal(words.segments?.[0]?.no_speech_prob, 0.01);
  });

  const REFUSED: readonly [name: string, fields: object, expected: object][] = [
    ['an unknown field', { odd: 1 }, { code: 'unknown_parameter', param: 'odd' }],
    ['another kind of model', { model: 'gpt-x' }, { param: 'model' }],
    ['no model', { model: undefined }, {}],
    ['times without verbosity', { timestamp_granularities: ['word'] }, { param: 'timestamp_granularities' }],
    [
      'times of nothing known',
      { response_format: 'verbose_json', timestamp_granularities: ['syllable'] },
      { param: 'timestamp_granularities[]' },
    ],
    [
      'verbosity from a model that has none',
      { model: 'gpt-4o-transcribe', response_format: 'verbose_json' },
      { param: 'response_format' },
    ],
    ['a temperature above 1', { temperature: 1.1 }, { param: 'temperature' }],
    ['a language in words', { language: 'english' }, { param: 'language' }],
    ['keywords for an older model', { keywords: ['x'] }, { param: 'keywords[]' }],
    ['no cutting where it is due', { model: 'gpt-4o-transcribe-diarize' }, { param: 'chunking_strategy' }],
    [
      'a prompt where speakers are told apart',
      { model: 'gpt-4o-transcribe-diarize', chunking_strategy: 'auto', prompt: 'x' },
      { param: 'prompt' },
    ],
  ];
  for (const [name, fields, expected] of REFUSED) {
    test(`is refused ${name}`, async () => {
      const asked = { file: await fileOf(wave), model: 'whisper-1', ...fields };
      await assert.rejects(client.audio.transcriptions.create(asked), { status: 400, ...expected });
    });
  }

  test('is refused a file that is none, is misnamed, or has another type', async () => {
    const files = [
      fileOf(Buffer.alloc(0)),
      fileOf(Buffer.from('no sound')),
      fileOf(wave, 'a.mp3'),
      fileOf(wave, 'a.wav', 'audio/mpeg'),
      toneAs('aac', { seconds: 0.2 }).then((bytes) => fileOf(bytes, 'a.aac', 'audio/aac')),
    ];
    for (const file of await Promise.all(files)) {
      await assert.rejects(client.audio.transcriptions.create({ file, model: 'whisper-1' }), {
        status: 400,
        param: 'file',
      });
    }
  });

  test('is refused 25 MiB and one byte for their length, and not one byte less', async () => {
    const bytes = Buffer.alloc(26_214_401);
    const send = async (length: number) =>
      client.audio.transcriptions.create({ file: await fileOf(bytes.subarray(0, length)), model: 'whisper-1' });
    await assert.rejects(send(bytes.length), { status: 413 });
    await assert.rejects(send(bytes.length - 1), { status: 400, param: 'file' });
  });

  test('is refused JSON where a form is due, and a form without a file', async () => {
    await assert.rejects(client.post('/audio/transcriptions', { body: { model: 'whisper-1' } }), { status: 415 });
    const body = new FormData();
    body.set('model', 'whisper-1');
    const headers = { authorization: `Bearer ${KEY}` };
    const reply = await fetch(`${emulator.url}/audio/transcriptions`, { method: 'POST', headers, body });
    assert.equal(reply.status, 400);
  });
});
