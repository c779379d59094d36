import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { CHAT_SPEAKERS, ClientWorld } from './support/clients.ts';
import { paidCaller, spentInTheEnd } from './support/paid-calls.ts';

// Unmodified client libraries, told nothing but an address and a key, over the responses format.

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
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;
const addressOf = () => `${world.gateway.url}/v1`;

describe('the library openai', () => {
  const client = (key: string) => new OpenAI({ baseURL: addressOf(), apiKey: key, maxRetries: 0 });
  const tools = [{ type: 'function' as const, name: 'weather', parameters: { ...SCHEMA }, strict: false }];

  for (const speaker of CHAT_SPEAKERS) {
    const { model } = speaker;

    test(`${model} answers whole, and tells what it cost`, async () => {
      const caller = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const answer = await client(caller.key).responses.create({ model, input: 'Hello', instructions: 'Be kind.' });
      assert.match(answer.output_text, expected);
      assert.deepEqual([answer.model, answer.status, answer.error], [model, 'completed', null]);
      const { usage } = answer;
      assert.ok(usage !== undefined && usage.input_tokens > 0 && usage.output_tokens > 0);
      assert.equal(usage.total_tokens, usage.input_tokens + usage.output_tokens);
      assert.deepEqual(usage, { ...usage, credits: await spentInTheEnd(world.gateway, caller) });
    });

    test(`${model} streams, and the library puts the same together`, async () => {
      const { key } = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const stream = client(key).responses.stream({ model, input: [{ role: 'user', content: 'Hello' }] });
      const deltas: string[] = [];
      stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
      const final = await stream.finalResponse();
      assert.match(final.output_text, expected);
      assert.equal(deltas.join(''), final.output_text);
      assert.ok(final.status === 'completed' && final.usage !== undefined && 'credits' in final.usage);
    });

    test(`${model} calls a tool, whole and in a stream, and takes its result`, async () => {
      const { key } = await paidCaller(world.gateway);
      const input = [{ role: 'user' as const, content: 'Weather in Bern?' }];
      const asked = { model, input, tools, tool_choice: 'required' as const, store: false };
      for (const isStream of [false, true]) {
        const expected = speaker.calls('weather', { city: 'Bern' });
        const { output } = isStream
          ? await client(key).responses.stream(asked).finalResponse()
          : await client(key).responses.create(asked);
        const call = output.find((item) => item.type === 'function_call');
        assert.ok(call?.type === 'function_call', JSON.stringify(output));
        assert.equal(call.name, 'weather');
        assert.match(call.arguments, expected);
        const told = speaker.says('It is sunny.');
        const result = { type: 'function_call_output' as const, call_id: call.call_id, output: 'Sunny' };
        const after = await client(key).responses.create({ model, input: [...input, call, result], tools });
        assert.match(after.output_text, told);
      }
    });
  }

  test('errors are of the library’s own classes', async () => {
    const { key } = await paidCaller(world.gateway);
    const model = 'studio/openai';
    await assert.rejects(client('sk-none').responses.create({ model, input: 'Hi' }), OpenAI.AuthenticationError);
    await assert.rejects(client(key).responses.create({ model: 'no/such', input: 'Hi' }), OpenAI.NotFoundError);
    const later = client(key).responses.create({ model, input: 'Hi', previous_response_id: 'resp_1' });
    await assert.rejects(later, (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.deepEqual([error.code, error.param], ['unsupported_parameter', 'previous_response_id']);
      return true;
    });
    const { key: poor } = await world.gateway.newCaller();
    const asked = client(poor).responses.create({ model, input: 'Hi', stream: true });
    await assert.rejects(asked, (error) => error instanceof OpenAI.APIError && error.status === 402);
  });
});

describe('the library ai with @ai-sdk/openai', () => {
  const sent: string[] = [];
  const recording: typeof fetch = (url, init) => {
    sent.push(typeof init?.body === 'string' ? init.body : '');
    return fetch(url, init);
  };
  const modelOf = (key: string, id: string) =>
    createOpenAI({ baseURL: addressOf(), apiKey: key, fetch: recording }).responses(id);

  for (const speaker of CHAT_SPEAKERS) {
    test(`${speaker.model}: a second turn refers to the first by its items`, async () => {
      const { key } = await paidCaller(world.gateway);
      const model = modelOf(key, speaker.model);
      const messages: ModelMessage[] = [{ role: 'user', content: 'Hello' }];
      const first = speaker.says(GREETING);
      const streamed = streamText({ model, messages, maxRetries: 0 });
      assert.match(await streamed.text, first);
      messages.push(...(await streamed.response).messages, { role: 'user', content: 'And again' });
      const second = speaker.says('Once more.');
      const answer = await generateText({ model, messages, maxRetries: 0 });
      assert.match(answer.text, second);
      assert.match(sent.at(-1) ?? '', /\{"type":"item_reference","id":"msg_/);
    });
  }

  test('a tool is run between two steps', async () => {
    const { key } = await paidCaller(world.gateway);
    const speaker = CHAT_SPEAKERS.find(({ model }) => model === 'studio/openai');
    assert.ok(speaker !== undefined);
    speaker.calls('weather', { city: 'Bern' });
    const told = speaker.says('It is sunny.');
    const weather = tool({ inputSchema: jsonSchema<{ city: string }>({ ...SCHEMA }), execute: async () => 'Sunny' });
    const { text, steps } = await generateText({
      model: modelOf(key, speaker.model),
      prompt: 'Weather in Bern?',
      tools: { weather },
      stopWhen: isStepCount(2),
      maxRetries: 0,
    });
    assert.match(text, told);
    assert.deepEqual(steps[0]?.toolCalls[0]?.input, { city: 'Bern' });
  });

  test('an item that is not kept is told so', async () => {
    const { key } = await paidCaller(world.gateway);
    const speaker = CHAT_SPEAKERS[0];
    assert.ok(speaker !== undefined);
    const model = modelOf(key, speaker.model);
    const first = await generateText({ model, prompt: 'Hello', maxRetries: 0 });
    world.gateway.clock.advance(25 * 3600);
    const messages: ModelMessage[] = [...first.response.messages, { role: 'user', content: 'And again' }];
    await assert.rejects(generateText({ model, messages, maxRetries: 0 }), (error) => {
      assert.ok(APICallError.isInstance(error));
      assert.match(error.responseBody ?? '', /"item_not_found"/);
      return true;
    });
  });
});
