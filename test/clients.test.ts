import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { APICallError, generateText, isStepCount, jsonSchema, Output, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { CHAT_SPEAKERS, ClientWorld } from './support/clients.ts';
import type { NewCaller } from './support/gateway.ts';
import { chatBody, delta, OpenStream, paidCaller, spentInTheEnd } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';

// Unmodified client libraries, told nothing but an address and a key.

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
const PLACE = '{"city":"Bern"}';
const addressOf = () => `${world.gateway.url}/v1`;

describe('the library openai', () => {
  const user = (content: string) => [{ role: 'user' as const, content }];
  const client = (key: string, maxRetries = 0) => new OpenAI({ baseURL: addressOf(), apiKey: key, maxRetries });

  test('lists models and retrieves one by an id with a slash', async () => {
    const { key } = await paidCaller(world.gateway);
    const models = await Array.fromAsync(client(key).models.list());
    const ids = models.map(({ id }) => id);
    assert.ok(CHAT_SPEAKERS.every(({ model }) => ids.includes(model)));
    const { id, object, owned_by } = await client(key).models.retrieve('studio/openai');
    assert.deepEqual([id, object, owned_by], ['studio/openai', 'model', 'studio']);
  });

  for (const speaker of CHAT_SPEAKERS) {
    const { model } = speaker;

    test(`R-474, R-478, R-484: ${model} chats, and tells what it cost`, async () => {
      const caller = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const answer = await client(caller.key).chat.completions.create({ model, messages: user('Hello') });
      assert.match(answer.choices[0]?.message.content ?? '', expected);
      assert.deepEqual([answer.model, answer.choices[0]?.finish_reason], [model, 'stop']);
      const { usage } = answer;
      assert.ok(usage !== undefined && usage.prompt_tokens > 0 && usage.completion_tokens > 0);
      assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
      assert.deepEqual(usage, { ...usage, credits: await spentInTheEnd(world.gateway, caller) });
      assert.match(answer._request_id ?? '', /^req_/);
    });

    test(`R-479, R-484: ${model} streams, with its usage when that is asked for`, async () => {
      const { key } = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const asked = { model, messages: user('Hello'), stream: true, stream_options: { include_usage: true } } as const;
      const chunks = await Array.fromAsync(await client(key).chat.completions.create(asked));
      assert.match(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), expected);
      assert.ok(chunks.every((chunk) => chunk.model === model && chunk.object === 'chat.completion.chunk'));
      const { usage, choices } = chunks.at(-1) ?? {};
      assert.deepEqual(choices, []);
      assert.ok(usage != null && usage.prompt_tokens > 0 && 'credits' in usage);
      assert.ok(chunks.slice(0, -1).every((chunk) => chunk.usage == null));
    });

    test(`R-479: ${model} streams without usage when none is asked for`, async () => {
      const { key } = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const asked = { model, messages: user('Hello'), stream: true } as const;
      const chunks = await Array.fromAsync(await client(key).chat.completions.create(asked));
      assert.match(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), expected);
      assert.ok(chunks.every((chunk) => chunk.usage === undefined && chunk.choices.length === 1));
      assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'stop');
    });

    test(`R-477: ${model} calls a tool, whole and in a stream, and takes its result`, async () => {
      const { key } = await paidCaller(world.gateway);
      const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { ...SCHEMA } } }];
      const asked = { model, messages: user('Weather in Bern?'), tools, tool_choice: 'required' as const };
      const whole = speaker.calls('weather', { city: 'Bern' });
      const { choices } = await client(key).chat.completions.create(asked);
      assert.equal(choices[0]?.finish_reason, 'tool_calls');
      const streamed = speaker.calls('weather', { city: 'Bern' });
      const final = await client(key).chat.completions.stream(asked).finalChatCompletion();
      for (const [message, expected] of [
        [choices[0]?.message, whole],
        [final.choices[0]?.message, streamed],
      ] as const) {
        const [call] = message?.tool_calls ?? [];
        assert.ok(message !== undefined && call?.type === 'function');
        assert.equal(call.function.name, 'weather');
        assert.match(call.function.arguments, expected);
        const result = { role: 'tool' as const, tool_call_id: call.id, content: 'Sunny' };
        const told = speaker.says('It is sunny.');
        const messages = [...asked.messages, message, result];
        const after = await client(key).chat.completions.create({ model, messages, tools });
        assert.match(after.choices[0]?.message.content ?? '', told);
      }
    });

    test(`R-477: ${model} answers in JSON of a schema`, async () => {
      const { key } = await paidCaller(world.gateway);
      speaker.says(PLACE);
      const json_schema = { name: 'place', strict: true, schema: { ...SCHEMA } };
      const response_format = { type: 'json_schema' as const, json_schema };
      const answer = await client(key).chat.completions.parse({ model, messages: user('Where?'), response_format });
      assert.deepEqual(Object.keys(JSON.parse(answer.choices[0]?.message.content ?? '')), ['city']);
    });
  }

  for (const model of ['sandbox/chat', 'studio/openai', 'studio/gemini']) {
    test(`R-477: ${model} answers in any JSON`, async () => {
      const { key } = await paidCaller(world.gateway);
      CHAT_SPEAKERS.find((speaker) => speaker.model === model)?.says(PLACE);
      const asked = { model, messages: user('A place, as JSON.'), response_format: { type: 'json_object' } } as const;
      const answer = await client(key).chat.completions.create(asked);
      assert.equal(typeof JSON.parse(answer.choices[0]?.message.content ?? ''), 'object');
    });
  }

  const chat = { model: 'studio/openai', messages: user('Hello') };
  const REFUSALS: readonly (readonly [
    what: string,
    ask: (caller: NewCaller) => Promise<unknown>,
    ErrorClass: new (...given: never[]) => InstanceType<typeof OpenAI.APIError>,
    told: readonly [status: number, code: string, type: string, param: string | null],
  ])[] = [
    [
      'a wrong key',
      () => client('sk-wrong').chat.completions.create(chat),
      OpenAI.AuthenticationError,
      [401, 'invalid_api_key', 'authentication_error', null],
    ],
    [
      'an unknown model',
      ({ key }) => client(key).chat.completions.create({ ...chat, model: 'none' }),
      OpenAI.NotFoundError,
      [404, 'model_not_found', 'not_found_error', 'model'],
    ],
    [
      'a call without messages',
      ({ key }) => client(key).chat.completions.create({ ...chat, messages: [] }),
      OpenAI.BadRequestError,
      [400, 'missing_messages', 'invalid_request_error', 'messages'],
    ],
    [
      'an unknown route',
      ({ key }) => client(key).moderations.create({ model: 'x', input: 'x' }),
      OpenAI.NotFoundError,
      [404, 'not_found', 'not_found_error', null],
    ],
  ];
  for (const [what, ask, ErrorClass, told] of REFUSALS) {
    test(`${what} is an error with our code`, async () => {
      await assert.rejects(ask(await paidCaller(world.gateway)), (error) => {
        assert.ok(error instanceof ErrorClass);
        assert.deepEqual([error.status, error.code, error.type, error.param], told);
        assert.match(error.requestID ?? '', /^req_/);
        return true;
      });
    });
  }

  test('an empty balance is an error with our code', async () => {
    const { key } = await world.gateway.newCaller();
    const asked = client(key, 2).chat.completions.create(chat);
    await assert.rejects(asked, { status: 402, code: 'insufficient_credits', type: 'insufficient_quota' });
  });

  for (const stream of [false, true]) {
    test(`R-476: a failing upstream is an error with our code, ${stream ? 'streamed' : 'whole'}`, async () => {
      const { key } = await paidCaller(world.gateway);
      world.openai.script({ kind: 'error', error: 'broken' }, { kind: 'error', error: 'broken' });
      const asked = client(key).chat.completions.create({ ...chat, stream });
      await assert.rejects(asked, (error) => {
        assert.ok(error instanceof OpenAI.InternalServerError);
        assert.deepEqual([error.status, error.code, error.type], [502, 'upstream_failed', 'upstream_error']);
        assert.doesNotMatch(error.message, /mark-openai/);
        return true;
      });
    });
  }

  test('R-475, R-480: a stream that fails in the middle raises our code, after what had come', async () => {
    const { key } = await paidCaller(world.gateway);
    world.openai.script({ kind: 'frames', frames: [delta('Good')], end: 'reset' });
    const stream = await client(key).chat.completions.create({ ...chat, stream: true });
    let text = '';
    await assert.rejects(
      async () => {
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      },
      { code: 'upstream_failed', type: 'upstream_error' },
    );
    assert.equal(text, 'Good');
  });

  test('R-514: a refusal for too many calls at once is tried again when we say, and then works', async () => {
    const { gateway } = world;
    const caller = await gateway.newCaller({ key: { concurrency: 1 } });
    await gateway.admin('POST', `/accounts/${caller.accountId}/grants`, { credits: 100 });
    world.openai.script({ kind: 'frames', frames: [delta('Good')], end: 'silence' });
    const body = chatBody('studio/openai', { stream: true });
    const holder = await OpenStream.open(gateway, '/v1/chat/completions', { key: caller.key, body });
    await holder.until('Good');
    const attempts: (readonly [status: number, retryAfter: string | null, count: string | null])[] = [];
    const fetching: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const retry = new Headers(init?.headers).get('x-stainless-retry-count');
      attempts.push([response.status, response.headers.get('retry-after'), retry]);
      // The slot is free before the library counts its second.
      if (response.status === 429) {
        await holder[Symbol.asyncDispose]();
        await until(async () => (await gateway.call('GET', '/v1/key', { key: caller.key })).status === 200);
      }
      return response;
    };
    const patient = new OpenAI({ baseURL: addressOf(), apiKey: caller.key, maxRetries: 1, fetch: fetching });
    const answer = await patient.chat.completions.create(chat);
    assert.equal(answer.choices[0]?.message.content, 'Hello there.');
    assert.deepEqual(attempts, [
      [429, '1', '0'],
      [200, null, '1'],
    ]);
    await spentInTheEnd(gateway, caller);
  });
});

describe('the library ai with @ai-sdk/openai-compatible', () => {
  const provider = (key: string) =>
    createOpenAICompatible({
      name: 'tollgate',
      baseURL: addressOf(),
      apiKey: key,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
  const weather = tool({
    description: 'Tells the weather',
    inputSchema: jsonSchema<{ city: string }>({ ...SCHEMA }),
    execute: async ({ city }) => `Sunny in ${city}`,
  });

  for (const speaker of CHAT_SPEAKERS) {
    test(`${speaker.model} generates text`, async () => {
      const { key } = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const model = provider(key)(speaker.model);
      const { text, finishReason, usage } = await generateText({ model, prompt: 'Hello', maxRetries: 0 });
      assert.match(text, expected);
      assert.equal(finishReason, 'stop');
      assert.ok((usage.inputTokens ?? 0) > 0 && (usage.outputTokens ?? 0) > 0);
    });

    test(`${speaker.model} streams text, with its usage`, async () => {
      const { key } = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const result = streamText({ model: provider(key)(speaker.model), prompt: 'Hello', maxRetries: 0 });
      assert.match((await Array.fromAsync(result.textStream)).join(''), expected);
      assert.equal(await result.finishReason, 'stop');
      assert.ok(((await result.usage).inputTokens ?? 0) > 0);
    });

    test(`${speaker.model} calls a tool and tells what it returned`, async () => {
      const { key } = await paidCaller(world.gateway);
      speaker.calls('weather', { city: 'Bern' });
      const expected = speaker.says('Sunny in Bern.');
      const { text, steps } = await generateText({
        model: provider(key)(speaker.model),
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
      const schema = jsonSchema<{ city: string }>({ ...SCHEMA });
      const asked = { model: provider(key)(speaker.model), prompt: 'Where?', maxRetries: 0 };
      const { output } = await generateText({ ...asked, output: Output.object({ schema }) });
      assert.deepEqual(Object.keys(output), ['city']);
    });
  }

  test('an unknown model is an error with our words', async () => {
    const { key } = await paidCaller(world.gateway);
    await assert.rejects(generateText({ model: provider(key)('none'), prompt: 'Hello' }), (error) => {
      assert.ok(APICallError.isInstance(error));
      assert.deepEqual([error.statusCode, error.isRetryable], [404, false]);
      assert.match(error.message, /^There is no model "none" for this key\. /);
      return true;
    });
  });

  test('R-475, R-480: a stream that fails in the middle is reported', async () => {
    const { key } = await paidCaller(world.gateway);
    world.openai.script({ kind: 'frames', frames: [delta('Good')], end: 'reset' });
    const errors: unknown[] = [];
    const onError = ({ error }: { error: unknown }) => void errors.push(error);
    const model = provider(key)('studio/openai');
    const { textStream } = streamText({ model, prompt: 'Hello', maxRetries: 0, onError });
    assert.equal((await Array.fromAsync(textStream)).join(''), 'Good');
    assert.match(String(errors[0]), /could not be reached or gave no usable answer/);
  });
});

describe('the library @langchain/openai', () => {
  const hasUsage = ({ usage_metadata: usage }: { usage_metadata?: unknown }) =>
    typeof usage === 'object' && usage !== null && 'input_tokens' in usage && Number(usage.input_tokens) > 0;
  const chat = (model: string, key: string) =>
    new ChatOpenAI({ model, apiKey: key, maxRetries: 0, configuration: { baseURL: addressOf() } });

  for (const speaker of CHAT_SPEAKERS) {
    test(`${speaker.model} is invoked`, async () => {
      const { key } = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const answer = await chat(speaker.model, key).invoke('Hello');
      assert.match(answer.text, expected);
      assert.ok(hasUsage(answer));
    });

    test(`${speaker.model} streams`, async () => {
      const { key } = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const chunks = await Array.fromAsync(await chat(speaker.model, key).stream('Hello'));
      const whole = chunks.reduce((sum, chunk) => sum.concat(chunk), new AIMessageChunk(''));
      assert.match(whole.text, expected);
      assert.ok(hasUsage(whole));
    });

    test(`${speaker.model} calls a tool and takes its result`, async () => {
      const { key } = await paidCaller(world.gateway);
      const weather = { type: 'function' as const, function: { name: 'weather', parameters: { ...SCHEMA } } };
      const bound = chat(speaker.model, key).bindTools([weather], { tool_choice: 'required' });
      const question = new HumanMessage('What is the weather in Bern?');
      const expected = speaker.calls('weather', { city: 'Bern' });
      const asked = await bound.invoke([question]);
      const [call] = asked.tool_calls ?? [];
      assert.equal(call?.name, 'weather');
      assert.match(JSON.stringify(call.args), expected);
      const told = speaker.says('It is sunny.');
      const result = new ToolMessage({ content: 'Sunny', tool_call_id: call.id ?? '' });
      const answer = await chat(speaker.model, key).bindTools([weather]).invoke([question, asked, result]);
      assert.match(answer.text, told);
    });
  }

  test('R-475, R-480: a stream that fails in the middle raises', async () => {
    const { key } = await paidCaller(world.gateway);
    world.openai.script({ kind: 'frames', frames: [delta('Good')], end: 'reset' });
    const stream = await chat('studio/openai', key).stream('Hello');
    await assert.rejects(Array.fromAsync(stream), /could not be reached or gave no usable answer/);
  });
});
