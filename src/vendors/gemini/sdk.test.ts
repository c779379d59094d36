import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApiError, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import { GeminiEmulator } from './emulator.ts';

// The vendor's own library against the emulator: what it takes and gives is what the vendor does.

const emulator = new GeminiEmulator({
  apiKey: 'key',
  marker: 'marker',
  models: ['gemini-3.8-flash', 'vendor/x:free', 'gemini-3.1-flash-image', 'gemini-3.8-flash-tts'],
  samples: { picture: Buffer.from('picture'), wave: Buffer.from('wave'), song: Buffer.from('song') },
});
before(() => emulator.start());
after(() => emulator.stop());

const MODEL = 'gemini-3.8-flash';
const library = (apiKey = 'key') => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: emulator.url } });

test('the library gets an answer with its usage', async () => {
  const answer = await library().models.generateContent({
    model: MODEL,
    contents: 'Hi',
    config: { systemInstruction: 'Be kind.', temperature: 0.5, stopSequences: ['x'], candidateCount: 1, seed: 1 },
  });
  assert.equal(answer.text, 'Hello there.');
  assert.equal(answer.candidates?.[0]?.finishReason, 'STOP');
  assert.equal(answer.usageMetadata?.totalTokenCount, 10);
  assert.equal(answer.modelVersion, 'version-marker');
});

test('the library streams', async () => {
  const stream = await library().models.generateContentStream({ model: 'vendor/x:free', contents: 'Hi' });
  const texts: (string | undefined)[] = [];
  for await (const piece of stream) texts.push(piece.text);
  assert.deepEqual(texts, ['Hello ', 'there.']);
  assert.equal(emulator.requests.at(-1)?.path, '/v1beta/models/vendor/x:free:streamGenerateContent?alt=sse');
});

test('the library counts tokens', async () => {
  const { totalTokens } = await library().models.countTokens({ model: MODEL, contents: 'Hi' });
  assert.equal(totalTokens, 7);
});

test('the library calls functions and sends their results', async () => {
  const functionCall = { id: 'c1', name: 'weather', args: { city: 'Bern' } };
  emulator.script({ kind: 'answer', parts: [{ functionCall, thoughtSignature: 'c2ln' }] });
  const parametersJsonSchema = { type: 'object', properties: { city: { type: 'string' } } };
  const config = {
    tools: [{ functionDeclarations: [{ name: 'weather', description: 'Tells it.', parametersJsonSchema }] }],
    toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['weather'] } },
  };
  const chat = library().chats.create({ model: MODEL, config });
  const asked = await chat.sendMessage({ message: 'Weather?' });
  assert.deepEqual(asked.functionCalls, [functionCall]);
  const functionResponse = { id: 'c1', name: 'weather', response: { output: 'Sunny' } };
  assert.equal((await chat.sendMessage({ message: { functionResponse } })).text, 'Hello there.');
});

test('the library reports a blocked prompt', async () => {
  emulator.script({ kind: 'answer', promptFeedback: { blockReason: 'SAFETY' } });
  const answer = await library().models.generateContent({ model: MODEL, contents: 'Hi' });
  assert.equal(answer.promptFeedback?.blockReason, 'SAFETY');
  assert.equal(answer.candidates, undefined);
});

test('the library gets a picture in the shape and size that it asks for, and no size that the vendor does not make', async () => {
  const draw = (imageSize: string) =>
    library().models.generateContent({
      model: 'gemini-3.1-flash-image',
      contents: [
        { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'cG5n' } }, { text: 'A gate' }] },
      ],
      config: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '16:9', imageSize } },
    });
  const answer = await draw('2K');
  assert.equal(Buffer.from(answer.data ?? '', 'base64').toString(), 'picture');
  assert.equal(answer.candidates?.[0]?.content?.parts?.[0]?.inlineData?.mimeType, 'image/png');
  await assert.rejects(draw('2k'), (error) => error instanceof ApiError && error.status === 400);
});

test('the library gets speech of a voice in a language', async () => {
  const speechConfig = { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } }, languageCode: 'en-US' };
  const answer = await library().models.generateContent({
    model: 'gemini-3.8-flash-tts',
    contents: 'Good day.',
    config: { responseModalities: ['AUDIO'], speechConfig },
  });
  assert.equal(Buffer.from(answer.data ?? '', 'base64').toString(), 'wave');
});

test('the library gets a song, a clip and a transcript by interactions', async () => {
  const { interactions } = library();
  const song = await interactions.create({ model: 'lyria-3.5', input: 'A march', response_format: { type: 'audio' } });
  assert.equal(Buffer.from(song.output_audio?.data ?? '', 'base64').toString(), 'song');
  const begun = await interactions.create({
    model: 'gemini-omni-1.1-flash',
    input: [{ type: 'text', text: 'Waves' }],
    response_format: { type: 'video', duration: '5s', resolution: '720p', delivery: 'uri' },
    generation_config: { video_config: { task: 'text_to_video' } },
    background: true,
    store: true,
  });
  assert.equal(begun.status, 'in_progress');
  assert.equal((await interactions.get(begun.id)).status, 'queued');
  assert.match((await interactions.get(begun.id)).output_video?.uri ?? '', /files\/.+:download\?alt=media$/);
  const heard = await interactions.create({
    model: 'gemini-3.5-transcribe',
    input: [{ type: 'audio', data: 'c291bmQ=', mime_type: 'audio/wav' }],
    generation_config: { transcription_config: { language_codes: ['en'] } },
  });
  assert.equal(heard.output_text, 'Hello there.');
  const odd = {
    model: 'lyria-3.5',
    input: 'A march',
    response_format: { type: 'audio' as const, mime_type: 'audio/wav' },
  };
  await assert.rejects(async () => interactions.create(odd), { status: 400 });
});

test('the library raises the emulator’s errors with their status', async () => {
  const ask = (apiKey?: string, model = MODEL, contents: string | [] = 'Hi') =>
    library(apiKey).models.generateContent({ model, contents });
  const isError = (status: number, text: string) => (error: unknown) =>
    error instanceof ApiError && error.status === status && error.message.includes(text);
  await assert.rejects(ask('wrong'), isError(400, 'API_KEY_INVALID'));
  await assert.rejects(ask('key', 'unknown'), isError(404, 'NOT_FOUND'));
  emulator.script({ kind: 'error', error: 'rate' });
  await assert.rejects(ask(), isError(429, 'RESOURCE_EXHAUSTED'));
  emulator.script({ kind: 'error', error: 'unavailable' });
  await assert.rejects(
    library().models.generateContentStream({ model: MODEL, contents: 'Hi' }),
    isError(503, 'UNAVAILABLE'),
  );
  const history = [{ role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] }];
  await assert.rejects(
    library().models.generateContent({ model: MODEL, contents: history }),
    isError(400, 'thought_signature'),
  );
});

test('the library raises an error that comes inside a stream', async () => {
  const error = { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded.' };
  const first = { candidates: [{ content: { parts: [{ text: 'one' }] } }] };
  emulator.script({ kind: 'frames', frames: [first, { error }] });
  const stream = await library().models.generateContentStream({ model: MODEL, contents: 'Hi' });
  await assert.rejects(Array.fromAsync(stream), (raised) => raised instanceof ApiError && raised.status === 503);
});
