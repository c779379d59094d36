import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { createGoogle } from '@ai-sdk/google';
import { ApiError, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import { APICallError, generateText, isStepCount, jsonSchema, Output, streamText, tool } from 'ai';
import { frame } from '../src/vendors/gemini/emulator/calls.ts';
import { ClientWorld, NATIVE_SPEAKERS } from './support/clients.ts';
import { moneyOf, paidCaller, spentInTheEnd } from './support/paid-calls.ts';

// Unmodified client libraries of the native format, told nothing but an address and a key.

let world: ClientWorld;
before(async () => {
  world = await ClientWorld.start();
});
after(() => world.stop());
afterEach(async () => {
  await world.gateway.assertBooksBalance();
  world.gateway.clock.advance(3600);
});

const GREETING = 'Good day to you.';
const PLACE = '{"city":"Bern"}';
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;

/** One frame, and then no more before it is known to have come. */
async function* until(taken: Promise<void>) {
  yield frame('Good');
  await taken;
}

describe('the library @google/genai', () => {
  const client = (apiKey: string) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: world.gateway.url } });
  const isError = (status: number, code: string) => (error: unknown) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, JSON.parse(error.message).error.code], [status, code]);
    return true;
  };

  for (const speaker of NATIVE_SPEAKERS) {
    const { model } = speaker;

    test(`R-470: ${model} generates content, and it is paid`, async () => {
      const caller = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const config = { systemInstruction: 'Be kind.', temperature: 0.5, maxOutputTokens: 500, stopSequences: ['#'] };
      const answer = await client(caller.key).models.generateContent({ model, contents: 'Hello', config });
      assert.match(answer.text ?? '', expected);
      assert.equal(answer.candidates?.[0]?.finishReason, 'STOP');
      const { promptTokenCount = 0, candidatesTokenCount = 0 } = answer.usageMetadata ?? {};
      const credits = (promptTokenCount * 1 + candidatesTokenCount * 4) / 1000;
      assert.ok(credits > 0);
      assert.equal(await spentInTheEnd(world.gateway, caller), credits);
    });

    test(`R-470: ${model} streams content`, async () => {
      const { key } = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const pieces = await Array.fromAsync(
        await client(key).models.generateContentStream({ model, contents: 'Hello' }),
      );
      assert.ok(pieces.length > 1);
      assert.match(pieces.map((piece) => piece.text ?? '').join(''), expected);
      assert.equal(pieces.at(-1)?.candidates?.[0]?.finishReason, 'STOP');
    });

    test(`R-463, R-470: ${model} counts tokens, and that is free`, async () => {
      const caller = await paidCaller(world.gateway, 5);
      const { totalTokens } = await client(caller.key).models.countTokens({ model, contents: 'Hello' });
      assert.ok((totalTokens ?? 0) > 0);
      assert.deepEqual(await moneyOf(world.gateway, caller), { available: 5, reserved: 0, spent: 0 });
    });

    test(`R-470: ${model} calls a function and takes its result`, async () => {
      const { key } = await paidCaller(world.gateway);
      const functionDeclarations = [{ name: 'weather', description: 'Tells it', parametersJsonSchema: { ...SCHEMA } }];
      const tools = [{ functionDeclarations }];
      const ask = { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } };
      const tell = { functionCallingConfig: { mode: FunctionCallingConfigMode.NONE } };
      const chat = client(key).chats.create({ model });
      const expected = speaker.calls('weather', { city: 'Bern' });
      const message = 'What is the weather in Bern?';
      const asked = await chat.sendMessage({ message, config: { tools, toolConfig: ask } });
      const [call] = asked.functionCalls ?? [];
      assert.equal(call?.name, 'weather');
      assert.match(JSON.stringify(call.args), expected);
      const told = speaker.says('It is sunny.');
      const functionResponse = { name: 'weather', response: { output: 'Sunny' }, ...(call.id && { id: call.id }) };
      const answer = await chat.sendMessage({
        message: { functionResponse },
        config: { tools, toolConfig: tell },
      });
      assert.match(answer.text ?? '', told);
    });

    test(`R-470: ${model} answers in JSON of a schema`, async () => {
      const { key } = await paidCaller(world.gateway);
      speaker.says(PLACE);
      const config = { responseMimeType: 'application/json', responseJsonSchema: { ...SCHEMA } };
      const { text } = await client(key).models.generateContent({ model, contents: 'Where?', config });
      assert.deepEqual(Object.keys(JSON.parse(text ?? '')), ['city']);
    });
  }

  test('R-470: refusals are errors with our status and code', async () => {
    const { key } = await paidCaller(world.gateway);
    const ask = (apiKey: string, model: string) => client(apiKey).models.generateContent({ model, contents: 'Hello' });
    await assert.rejects(ask('wrong', 'studio/native'), isError(401, 'invalid_api_key'));
    await assert.rejects(ask(key, 'none'), isError(404, 'model_not_found'));
    await assert.rejects(ask(key, 'sandbox/chat'), isError(404, 'model_not_found'));
    await assert.rejects(client(key).models.get({ model: 'studio/native' }), isError(404, 'not_found'));
    const embedding = client(key).models.embedContent({ model: 'studio/native', contents: 'Hello' });
    await assert.rejects(embedding, isError(404, 'unsupported_action'));
    const { key: poor } = await world.gateway.newCaller();
    await assert.rejects(ask(poor, 'studio/native'), isError(402, 'insufficient_credits'));
  });

  test('R-470: a stream that fails before its first frame is an error with our status and code', async () => {
    const { key } = await paidCaller(world.gateway);
    const ask = () => client(key).models.generateContentStream({ model: 'studio/native', contents: 'Hello' });
    world.gemini.script({ kind: 'fault', fault: 'empty stream' });
    await assert.rejects(ask(), isError(502, 'empty_stream'));
  });

  test('R-470, R-472: a stream that fails in the middle raises after what had come', async () => {
    const { key } = await paidCaller(world.gateway);
    const taken = Promise.withResolvers<void>();
    world.gemini.script({ kind: 'frames', frames: until(taken.promise), end: 'reset' });
    const stream = await client(key).models.generateContentStream({ model: 'studio/native', contents: 'Hello' });
    let text = '';
    await assert.rejects(async () => {
      for await (const piece of stream) {
        text += piece.text ?? '';
        taken.resolve();
      }
    });
    assert.equal(text, 'Good');
  });
});

describe('the library ai with @ai-sdk/google', () => {
  /** It takes an id with a slash for a path of its own, unless that begins as every path does. */
  const google = (apiKey: string, id: string) =>
    createGoogle({ apiKey, baseURL: `${world.gateway.url}/v1beta` })(`models/${id}`);
  const schema = jsonSchema<{ city: string }>({ ...SCHEMA });
  const weather = tool({
    description: 'Tells the weather',
    inputSchema: schema,
    execute: async ({ city }) => `Sunny in ${city}`,
  });

  for (const speaker of NATIVE_SPEAKERS) {
    test(`${speaker.model} generates text`, async () => {
      const { key } = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const model = google(key, speaker.model);
      const { text, finishReason, usage } = await generateText({ model, prompt: 'Hello', maxRetries: 0 });
      assert.match(text, expected);
      assert.equal(finishReason, 'stop');
      assert.ok((usage.inputTokens ?? 0) > 0 && (usage.outputTokens ?? 0) > 0);
    });

    test(`${speaker.model} streams text`, async () => {
      const { key } = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const result = streamText({ model: google(key, speaker.model), prompt: 'Hello', maxRetries: 0 });
      assert.match((await Array.fromAsync(result.textStream)).join(''), expected);
      assert.equal(await result.finishReason, 'stop');
    });

    test(`${speaker.model} calls a tool and tells what it returned`, async () => {
      const { key } = await paidCaller(world.gateway);
      speaker.calls('weather', { city: 'Bern' });
      const expected = speaker.says('Sunny in Bern.');
      const { text, steps } = await generateText({
        model: google(key, speaker.model),
        prompt: 'What is the weather in Bern?',
        tools: { weather },
        stopWhen: isStepCount(2),
        maxRetries: 0,
      });
      assert.match(String(steps[0]?.toolResults[0]?.output), /^Sunny in /);
      assert.match(text, expected);
    });

    test(`${speaker.model} generates an object`, async () => {
      const { key } = await paidCaller(world.gateway);
      speaker.says(PLACE);
      const asked = { model: google(key, speaker.model), prompt: 'Where?', maxRetries: 0 };
      const { output } = await generateText({ ...asked, output: Output.object({ schema }) });
      assert.deepEqual(Object.keys(output), ['city']);
    });
  }

  test('an unknown model is an error with our status', async () => {
    const { key } = await paidCaller(world.gateway);
    const model = google(key, 'none');
    await assert.rejects(
      generateText({ model, prompt: 'Hello' }),
      (error) => APICallError.isInstance(error) && error.statusCode === 404 && !error.isRetryable,
    );
  });

  test('R-472: a stream that fails in the middle is reported', async () => {
    const { key } = await paidCaller(world.gateway);
    const taken = Promise.withResolvers<void>();
    world.gemini.script({ kind: 'frames', frames: until(taken.promise), end: 'reset' });
    const onError = () => undefined;
    const { textStream } = streamText({ model: google(key, 'studio/native'), prompt: 'Hello', maxRetries: 0, onError });
    const texts: string[] = [];
    await assert.rejects(async () => {
      for await (const text of textStream) {
        texts.push(text);
        taken.resolve();
      }
    });
    assert.deepEqual(texts, ['Good']);
  });
});
