import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { GladiaClient, type PreRecordedV2Client, type PreRecordedV2InitTranscriptionRequest } from '@gladiaio/sdk';
import { toneAs } from '../../../test/support/media-samples.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import { FIELDS } from './emulator/checks.ts';
import { GladiaEmulator } from './emulator.ts';

const tone = await toneAs('wav', { seconds: 2, sampleRate: 16_000 });
const fileOf = (bytes: Buffer) => new File([new Uint8Array(bytes)], 'a.wav', { type: 'audio/wav' });
const AT_ONCE = { interval: 0 };

describe('the vendor’s own library takes the emulator for the vendor', () => {
  const emulator = new GladiaEmulator(KEY, MARKER);
  const clientOf = (apiKey: string) =>
    new GladiaClient({ apiKey, apiUrl: emulator.url, httpRetry: { maxAttempts: 1 } }).preRecorded();
  let client: PreRecordedV2Client;
  before(async () => {
    await emulator.start();
    client = clientOf(KEY);
  });
  after(() => emulator.stop());

  test('a recording is uploaded, becomes a task, and is asked after until it is done', async () => {
    emulator.readsUntilDone = 2;
    const options = { model: 'solaria-1' as const, language_config: { languages: ['en' as const] } };
    const { id, status, result } = await client.transcribe(fileOf(tone), options, AT_ONCE);
    assert.deepEqual([id, status], [emulator.submissions[0]?.id, 'done']);
    assert.equal(result?.metadata.audio_duration, 2);
    assert.equal(result.transcription?.full_transcript, 'Hello there. Hi.');
    assert.deepEqual(result.transcription.languages, ['en']);
    assert.equal(result.transcription.utterances[1]?.words[0]?.start, 1.2);
    const { items } = await client.list({ limit: 1 });
    assert.equal(items[0]?.id, id);
  });

  test('a task is created with every field that there is', async () => {
    const { audio_url, audio_metadata } = await client.uploadFile(fileOf(tone));
    assert.deepEqual([audio_metadata.extension, audio_metadata.audio_duration], ['wav', 2]);
    const request = {
      audio_url,
      model: 'solaria-1',
      language_config: { languages: ['de'], code_switching: false },
      custom_vocabulary: true,
      custom_vocabulary_config: { vocabulary: ['Ann'] },
      callback_url: 'https://example.com',
      callback: true,
      callback_config: { url: 'https://example.com' },
      subtitles: true,
      subtitles_config: { formats: ['srt'] },
      diarization: true,
      diarization_config: { number_of_speakers: 2 },
      translation: true,
      translation_config: { target_languages: ['fr'] },
      summarization: true,
      summarization_config: { type: 'general' },
      named_entity_recognition: true,
      custom_spelling: true,
      custom_spelling_config: { spelling_dictionary: { Ann: ['An'] } },
      sentiment_analysis: true,
      audio_to_llm: true,
      audio_to_llm_config: { prompts: [['What is it about?']] },
      pii_redaction: true,
      pii_redaction_config: { processed_text_type: 'MASK' },
      custom_metadata: { a: 1 },
      sentences: true,
      punctuation_enhanced: true,
    } satisfies PreRecordedV2InitTranscriptionRequest;
    const { id } = await client.create(request);
    assert.deepEqual(emulator.submissions.at(-1)?.body, request);
    assert.deepEqual(Object.keys(request).sort(), Object.keys(FIELDS).sort());
    assert.equal((await client.poll(id, AT_ONCE)).status, 'done');
  });

  test('a task that failed is told as such', async () => {
    emulator.readsUntilDone = 0;
    const { audio_url } = await client.uploadFile(fileOf(tone));
    const { id } = await client.create({ audio_url });
    for (const task of emulator.submissions) if (task.id === id) task.errorCode = 422;
    await assert.rejects(client.poll(id, AT_ONCE), /failed with error code: 422/);
  });

  test('another key, an unknown task, field, address and model, and what is no sound are refused', async () => {
    await assert.rejects(clientOf('other').list(), { status: 401 });
    await assert.rejects(client.get('unknown'), { status: 404 });
    const { audio_url } = await client.uploadFile(fileOf(tone));
    await assert.rejects(client.createUntyped({ audio_url, odd: 1 }), { status: 400 });
    await assert.rejects(client.createUntyped({ audio_url, model: 'solaria-9' }), { status: 400 });
    await assert.rejects(client.create({ audio_url: 'https://example.com/a.wav' }), { status: 400 });
    await assert.rejects(client.uploadFile(fileOf(Buffer.from('no sound'))), { status: 400 });
  });
});
