import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, experimental_generateSpeech as generateSpeech } from 'ai';
import OpenAI from 'openai';
import { soundAs } from '../src/vendors/openai/emulator/audio.ts';
import { paidCaller, spentInTheEnd } from './support/paid-calls.ts';
import { PRICE, piecewise, SpeechStudio } from './support/speech-studio.ts';

// Unmodified client libraries, told nothing but an address and a key.

const studio = new SpeechStudio();
before(() => studio.start());
after(() => studio.stop());
afterEach(() => studio.rest());

const TEXT = 'Good day.';
const addressOf = () => `${studio.gateway.url}/v1`;

describe('the library openai', () => {
  const client = (apiKey: string) => new OpenAI({ baseURL: addressOf(), apiKey, maxRetries: 0 });
  const speech = { model: 'voice/seconds', input: TEXT, voice: 'alloy' } as const;

  for (const response_format of ['mp3', 'wav', 'pcm', 'opus', 'flac', 'aac'] as const) {
    test(`hears ${response_format}, and is charged for it`, async () => {
      const caller = await paidCaller(studio.gateway);
      const answer = await client(caller.key).audio.speech.create({ ...speech, response_format });
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(await soundAs(response_format)));
      const spent = await spentInTheEnd(studio.gateway, caller);
      assert.ok(spent >= 0.5 * PRICE.second && spent < 0.6 * PRICE.second, String(spent));
    });
  }

  test('hears sound before there is all of it, speaks with instructions and a voice of its own', async () => {
    const { key } = await paidCaller(studio.gateway);
    const bytes = await soundAs('mp3');
    const arrived = Promise.withResolvers<void>();
    studio.first.script({
      kind: 'sound',
      pieces: piecewise(bytes.subarray(0, 500), arrived.promise, bytes.subarray(500)),
    });
    const own = { ...speech, voice: { id: 'voice_1234' }, instructions: 'Calmly.', speed: 1.5 };
    const { body, headers } = await client(key).audio.speech.create(own);
    assert.equal(headers.get('content-type'), 'audio/mpeg');
    const pieces: Uint8Array[] = [];
    for await (const piece of body ?? []) {
      pieces.push(piece);
      arrived.resolve();
    }
    assert.ok(Buffer.concat(pieces).equals(bytes));
    const { voice, instructions, speed } = studio.first.speeches[0] ?? {};
    assert.deepEqual([voice, instructions, speed], [{ id: 'voice_1234' }, 'Calmly.', 1.5]);
  });

  test('is told what is wrong', async () => {
    const { key } = await paidCaller(studio.gateway);
    await assert.rejects(client(key).audio.speech.create({ ...speech, model: 'none' }), (error) => {
      assert.ok(error instanceof OpenAI.NotFoundError);
      return error.code === 'model_not_found';
    });
    const poor = await studio.gateway.newCaller();
    await assert.rejects(client(poor.key).audio.speech.create(speech), (error) => {
      assert.ok(error instanceof OpenAI.APIError);
      return error.status === 402 && error.code === 'insufficient_credits';
    });
  });

  test('takes sound that breaks off for an error', async () => {
    const { key } = await paidCaller(studio.gateway);
    const bytes = await soundAs('mp3');
    studio.first.script({ kind: 'sound', pieces: [bytes.subarray(0, 500)], end: 'reset' });
    const answer = await client(key).audio.speech.create(speech);
    await assert.rejects(answer.arrayBuffer());
  });
});

describe('the library ai with @ai-sdk/openai', () => {
  const voice = (apiKey: string) => createOpenAI({ baseURL: addressOf(), apiKey }).speech('voice/characters');

  test('hears what a model says, and what kind of sound it is', async () => {
    const { key } = await paidCaller(studio.gateway);
    for (const outputFormat of ['mp3', 'wav', 'flac']) {
      const { audio } = await generateSpeech({ model: voice(key), text: TEXT, voice: 'alloy', outputFormat });
      assert.ok(Buffer.from(audio.uint8Array).equals(await soundAs(outputFormat)));
      assert.equal(audio.format, outputFormat);
    }
  });

  test('is told what is wrong', async () => {
    const poor = await studio.gateway.newCaller();
    await assert.rejects(generateSpeech({ model: voice(poor.key), text: TEXT, maxRetries: 0 }), (error) => {
      assert.ok(APICallError.isInstance(error));
      return error.statusCode === 402;
    });
  });
});
