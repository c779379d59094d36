import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AssemblyAI, type TranscriptParams } from 'assemblyai';
import { KEY } from './emulator/calls.ts';
import { AssemblyAiEmulator } from './emulator.ts';

// The vendor's own client library against the emulator, which is so held to the vendor's own types and ways.

describe('the vendor’s own client library', () => {
  const emulator = new AssemblyAiEmulator({ apiKey: KEY, readsUntilDone: 1 });
  let client: AssemblyAI;
  before(async () => {
    await emulator.start();
    client = new AssemblyAI({ apiKey: KEY, baseUrl: emulator.url });
  });
  after(() => emulator.stop());
  const ASKED = { speech_models: ['universal-3-pro'], language_detection: true };
  const audio = Buffer.from('RIFF of a kind');

  test('uploads, waits and reads', async () => {
    const transcript = await client.transcripts.transcribe({ audio, ...ASKED }, { pollingInterval: 1 });
    assert.equal(transcript.status, 'completed');
    assert.equal(transcript.text, 'Hello there. How are you?');
    assert.deepEqual(transcript.words?.at(-1), {
      text: 'you?',
      start: 4000,
      end: 5000,
      confidence: 0.9,
      speaker: null,
    });
    assert.deepEqual([transcript.audio_duration, transcript.language_code], [5, 'en_us']);
    assert.deepEqual(emulator.tasks.at(-1)?.audio, audio);
    const { sentences } = await client.transcripts.sentences(transcript.id);
    assert.deepEqual(
      sentences.map(({ text, start, end }) => [text, start, end]),
      [
        ['Hello there.', 0, 2000],
        ['How are you?', 2000, 5000],
      ],
    );
  });

  test('submits, and finds the task again at every stage', async () => {
    const { id, status } = await client.transcripts.submit({ audio_url: 'https://example.com/a.mp3', ...ASKED });
    assert.equal(status, 'queued');
    await assert.rejects(client.transcripts.sentences(id), /status of processing/);
    assert.equal((await client.transcripts.get(id)).status, 'queued');
    emulator.begin(id);
    emulator.fail(id, 'Audio duration is too short.');
    const ended = await client.transcripts.get(id);
    assert.deepEqual([ended.status, ended.error, ended.text], ['error', 'Audio duration is too short.', null]);
  });

  test('is told that a task is unknown', () =>
    assert.rejects(client.transcripts.get('no-such-task'), /transcript id not found/));

  test('is refused with another key, and with a word before its key', async () => {
    for (const apiKey of ['other', `Bearer ${KEY}`]) {
      const stranger = new AssemblyAI({ apiKey, baseUrl: emulator.url });
      await assert.rejects(stranger.files.upload(audio), /API token missing\/invalid/);
    }
  });

  const REFUSED: readonly [name: string, fields: object, error: RegExp][] = [
    ['an unknown field', { odd: 1 }, /"odd"/],
    ['no recording', { audio_url: undefined }, /"audio_url" is required/],
    ['an address that is none', { audio_url: 'a.mp3' }, /"audio_url" is no URL/],
    ['no model', { speech_models: undefined }, /"speech_models"/],
    ['an unknown model', { speech_models: ['universal-9'] }, /"speech_models"/],
    ['an unknown language', { language_detection: false, language_code: 'xx' }, /"language_code"/],
    ['a language beside its detection', { language_code: 'fr' }, /language_detection cannot/],
    ['a flag as text', { punctuate: 'true' }, /"punctuate"/],
    ['a temperature above 1', { temperature: 1.1 }, /"temperature"/],
    ['a prompt for an older model', { speech_models: ['universal-2'], prompt: 'x' }, /"prompt"/],
  ];
  for (const [name, fields, error] of REFUSED) {
    test(`is refused ${name}`, async () => {
      const params = { audio_url: 'https://example.com/a.mp3', ...ASKED, ...fields } as TranscriptParams;
      const tasks = emulator.tasks.length;
      await assert.rejects(client.transcripts.submit(params), error);
      assert.equal(emulator.tasks.length, tasks);
    });
  }

  test('an upload of another type, or of nothing, is refused', async () => {
    await assert.rejects(client.files.upload(Buffer.alloc(0)), /Upload failed/);
    const headers = { authorization: KEY, 'content-type': 'audio/wav' };
    const reply = await fetch(`${emulator.url}/v2/upload`, { method: 'POST', headers, body: audio });
    assert.equal(reply.status, 422);
  });
});
