import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ElevenLabs, ElevenLabsClient } from '@elevenlabs/elevenlabs-js';
import { toneAs } from '../../../test/support/media-samples.ts';
import { KEY, MARKER, VOICE } from './emulator/calls.ts';
import { OUTPUT_FORMATS, soundOf } from './emulator/sounds.ts';
import { ElevenLabsEmulator } from './emulator.ts';

const TEXT = 'The first move is what sets everything in motion.';
const DESCRIPTION = 'A sassy squeaky mouse';
const tone = await toneAs('wav', { seconds: 2, sampleRate: 16_000 });
const fileOf = (bytes: Buffer, filename = 'a.wav') => ({ data: bytes, filename, contentType: 'audio/wav' });

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(stream));
}

describe('the vendor’s own library takes the emulator for the vendor', () => {
  const emulator = new ElevenLabsEmulator({ apiKey: KEY, marker: MARKER, voices: [VOICE], hasWebhook: true });
  let client: ElevenLabsClient;
  before(async () => {
    await emulator.start();
    client = new ElevenLabsClient({ environment: emulator.url, apiKey: KEY, maxRetries: 0 });
  });
  after(() => emulator.stop());

  test('a text is spoken, whole and as a stream, with every field that there is', async () => {
    const request = {
      text: TEXT,
      modelId: 'eleven_flash_v2_5',
      languageCode: 'en',
      seed: 4_294_967_295,
      voiceSettings: { stability: 0.5, similarityBoost: 0.7, style: 0, useSpeakerBoost: true, speed: 1.2 },
      pronunciationDictionaryLocators: [{ pronunciationDictionaryId: 'a', versionId: 'b' }],
      previousText: 'a',
      nextText: 'b',
      previousRequestIds: ['a', 'b', 'c'],
      nextRequestIds: ['d'],
      usePvcAsIvc: false,
      applyTextNormalization: 'auto',
      applyLanguageTextNormalization: false,
      audioEffects: { pan: 0 },
      enableLogging: true,
      optimizeStreamingLatency: 2,
    } satisfies ElevenLabs.StreamTextToSpeechRequest;
    const whole = await client.textToSpeech.convert(VOICE, { ...request, outputFormat: 'wav_16000' });
    assert.deepEqual(await bytesOf(whole), await soundOf('wav_16000', 0.5));
    const stream = await client.textToSpeech.stream(VOICE, { ...request, outputFormat: 'pcm_24000' });
    assert.deepEqual(await bytesOf(stream), await soundOf('pcm_24000', 0.5));
    assert.deepEqual(
      emulator.submissions.slice(-2).map(({ route }) => route),
      ['speech', 'speech stream'],
    );
  });

  test('every output format of the vendor is made, and no other', async () => {
    const { TextToSpeechConvertRequestOutputFormat: whole, TextToSpeechStreamRequestOutputFormat: rest } = ElevenLabs;
    assert.deepEqual([...OUTPUT_FORMATS.whole].sort(), Object.values(whole).sort());
    assert.deepEqual([...OUTPUT_FORMATS.rest].sort(), Object.values(rest).sort());
    for (const outputFormat of Object.values(whole)) {
      const sound = await bytesOf(await client.textToSpeech.convert(VOICE, { text: TEXT, outputFormat }));
      assert.deepEqual(sound, await soundOf(outputFormat, 0.5));
    }
    for (const format of ['mp3_44100_129', 'flac_44100', 'wav_11025', 'opus_24000_32']) {
      assert.equal(await statusOf(`?output_format=${format}`), 400);
    }
    assert.equal(await statusOf('/stream?output_format=wav_16000'), 400);
  });

  test('a sound effect is as long as it should be', async () => {
    const sound = await client.textToSoundEffects.convert({
      text: 'Rain',
      durationSeconds: 1.5,
      promptInfluence: 0.3,
      loop: true,
      modelId: 'eleven_text_to_sound_v2',
      outputFormat: 'pcm_16000',
    });
    assert.equal((await bytesOf(sound)).length, 1.5 * 16_000 * 2);
  });

  test('a song is made from a prompt, and from a plan of either generation', async () => {
    const formats = Object.values(ElevenLabs.MusicComposeRequestOutputFormat);
    assert.deepEqual([...OUTPUT_FORMATS.music].sort(), formats.sort());
    const prompted = { prompt: 'A march', musicLengthMs: 3000, forceInstrumental: true, modelId: 'music_v1' } as const;
    const whole = await bytesOf(await client.music.compose({ ...prompted, outputFormat: 'mp3_48000_320' }));
    assert.deepEqual(whole, await soundOf('mp3_48000_320', 3));
    const local = { positiveLocalStyles: [], negativeLocalStyles: [], lines: ['La'] };
    const sections = [{ sectionName: 'Verse', durationMs: 3000, ...local }];
    const ofSections = { positiveGlobalStyles: ['pop'], negativeGlobalStyles: [], sections };
    const ofChunks = {
      chunks: [{ text: '[Verse]\nLa', durationMs: 3000, positiveStyles: ['pop'], negativeStyles: [] }],
    };
    const planned = (modelId: 'music_v1' | 'music_v2', compositionPlan: typeof ofSections | typeof ofChunks) =>
      client.music.compose({ compositionPlan, modelId, seed: 1, outputFormat: 'mp3_44100_128' });
    for (const song of [await planned('music_v1', ofSections), await planned('music_v2', ofChunks)])
      assert.deepEqual(await bytesOf(song), await soundOf('mp3_44100_128', 3));
    await assert.rejects(planned('music_v2', ofSections), { statusCode: 400 });
    await assert.rejects(client.music.compose({ ...prompted, seed: 1 }), { statusCode: 400 });
    await assert.rejects(client.music.compose({ ...prompted, musicLengthMs: 2999 }), { statusCode: 422 });
  });

  test('a transcript is stored for an account with a webhook', async () => {
    const ack = await client.speechToText.convert({ modelId: 'scribe_v2', file: fileOf(tone), webhook: true });
    assert.ok('requestId' in ack && ack.transcriptionId !== undefined);
    const stored = await client.speechToText.transcripts.get(ack.transcriptionId);
    assert.ok('text' in stored);
    assert.equal(stored.text, 'Hello there. (laughter) Hi');
    await assert.rejects(client.speechToText.transcripts.get('unknown'), { statusCode: 404 });
  });

  test('voices are designed, with a text and without', async () => {
    const designed = await client.textToVoice.design({
      voiceDescription: DESCRIPTION,
      modelId: 'eleven_multilingual_ttv_v2',
      text: TEXT.repeat(3),
      loudness: 0.5,
      seed: 1,
      guidanceScale: 5,
      shouldEnhance: false,
      outputFormat: 'mp3_22050_32',
    });
    const sound = (await soundOf('mp3_22050_32', 0.5)).toString('base64');
    assert.deepEqual(
      designed.previews.map(({ audioBase64, generatedVoiceId }) => [audioBase64 === sound, generatedVoiceId]),
      [1, 2, 3].map((at) => [true, `voice_${MARKER}_${at}`]),
    );
    const request = { voiceDescription: DESCRIPTION, autoGenerateText: true };
    assert.notEqual((await client.textToVoice.design(request)).text, '');
  });

  test('a clip is transcribed, with times, characters or neither', async () => {
    const transcribe = async (timestampsGranularity: 'none' | 'word' | 'character') => {
      const file = fileOf(tone);
      const said = await client.speechToText.convert({
        file,
        modelId: 'scribe_v2',
        languageCode: 'en',
        timestampsGranularity,
        tagAudioEvents: true,
        diarize: true,
        numSpeakers: 2,
        temperature: 0,
        seed: 1,
        keyterms: ['Tollgate', 'toll'],
        additionalFormats: [{ format: 'txt' }],
        enableLogging: true,
      });
      assert.ok('words' in said);
      return said;
    };
    const [none, word, character] = [await transcribe('none'), await transcribe('word'), await transcribe('character')];
    assert.deepEqual([word.languageCode, word.audioDurationSecs, word.text], ['eng', 2, 'Hello there. (laughter) Hi']);
    assert.deepEqual(
      [none.words[0]?.start, word.words[0]?.end, character.words[0]?.characters?.length],
      [undefined, 0.4, 5],
    );
    assert.deepEqual(emulator.submissions.at(-1)?.fields.keyterms, ['Tollgate', 'toll']);
  });

  /** Past the library’s own check of what it is given. */
  async function statusOf(behindVoice: string, fields: object = {}): Promise<number> {
    const reply = await fetch(`${emulator.url}/v1/text-to-speech/${VOICE}${behindVoice}`, {
      method: 'POST',
      headers: { 'xi-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ text: TEXT, ...fields }),
    });
    return reply.status;
  }

  const REFUSED: readonly [name: string, fields: object, status: number][] = [
    ['a missing text', { text: undefined }, 422],
    ['an empty text', { text: '' }, 400],
    ['a model that it does not have', { model_id: 'eleven_v9' }, 404],
    ['a text that is too long', { model_id: 'eleven_v3', text: 'a'.repeat(5001) }, 400],
    ['a language where the model finds it', { model_id: 'eleven_multilingual_v2', language_code: 'en' }, 400],
    ['a seed beyond its range', { seed: 4_294_967_296 }, 422],
    ['a voice that is too fast', { voice_settings: { speed: 1.21 } }, 400],
    ['an unknown setting', { voice_settings: { odd: 1 } }, 400],
    ['four earlier requests', { previous_request_ids: ['a', 'b', 'c', 'd'] }, 422],
    ['an unknown field', { odd: 1 }, 422],
    ['a parameter of the query in its body', { enable_logging: true }, 422],
  ];
  for (const [name, fields, status] of REFUSED) {
    test(`speech with ${name} is refused`, async () => {
      assert.equal(await statusOf('', fields), status);
    });
  }

  test('an unknown voice, key, path and parameter are refused', async () => {
    const request = { text: TEXT };
    await assert.rejects(client.textToSpeech.convert('nobody', request), { statusCode: 404 });
    const stranger = new ElevenLabsClient({ environment: emulator.url, apiKey: 'other', maxRetries: 0 });
    await assert.rejects(stranger.textToSpeech.convert(VOICE, request), { statusCode: 401 });
    await assert.rejects(client.voices.getAll(), { statusCode: 404 });
    assert.equal(await statusOf('?optimize_streaming_latency=5'), 422);
  });

  test('an effect and a design outside their ranges are refused, and at their bounds are taken', async () => {
    const effect = (durationSeconds: number, promptInfluence = 1) =>
      client.textToSoundEffects.convert({ text: 'Rain', durationSeconds, promptInfluence, outputFormat: 'pcm_8000' });
    for (const seconds of [0.5, 30]) assert.ok((await bytesOf(await effect(seconds))).length > 0);
    for (const seconds of [0.4, 30.1]) await assert.rejects(effect(seconds), { statusCode: 422 });
    await assert.rejects(effect(1, 1.1), { statusCode: 422 });
    const design = (text?: string) =>
      client.textToVoice.design({ voiceDescription: DESCRIPTION, ...(text && { text }) });
    for (const length of [100, 1000]) assert.equal((await design('a'.repeat(length))).previews.length, 3);
    for (const length of [99, 1001]) await assert.rejects(design('a'.repeat(length)), { statusCode: 422 });
    await assert.rejects(design(), { statusCode: 400 });
  });

  test('what is no sound, or hardly any, is not transcribed', async () => {
    const transcribe = (bytes: Buffer) => client.speechToText.convert({ modelId: 'scribe_v2', file: fileOf(bytes) });
    await assert.rejects(transcribe(Buffer.from('no')), { statusCode: 400 });
    await assert.rejects(transcribe(await toneAs('wav', { seconds: 0.09 })), { statusCode: 400 });
    await transcribe(await toneAs('wav', { seconds: 0.1 }));
    await assert.rejects(client.speechToText.convert({ modelId: 'scribe_v9', file: fileOf(tone) }), {
      statusCode: 422,
    });
  });
});
