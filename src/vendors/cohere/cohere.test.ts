import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { plainEmbedding } from '../../../test/support/plain-requests.ts';
import { UpstreamError } from '../../errors.ts';
import { chatSchema, type EmbeddingRequest, toChatRequest } from '../../schemas/index.ts';
import { json } from '../emulator/json.ts';
import { base64Of, numbersOf } from '../emulator/vectors.ts';
import { type Upstream, UpstreamPools } from '../index.ts';
import { CohereEmulator, eventsOf, refusal, TEXT_EVENTS } from './emulator.ts';
import { work } from './work.ts';

const chat = work.chat ?? assert.fail();
const embedding = work.embedding ?? assert.fail();
const KEY = 'co-key';
let emulator: CohereEmulator;
let pools: UpstreamPools;

beforeEach(async () => {
  emulator = new CohereEmulator(KEY);
  await emulator.start();
  pools = new UpstreamPools();
});
afterEach(async () => {
  await pools.close();
  await emulator.stop();
});

function upstreamOf(fields: Partial<Upstream> = {}): Upstream {
  const { signal } = new AbortController();
  return { model: 'command-a', address: emulator.url, apiKey: KEY, timeoutMs: 10_000, signal, pools, ...fields };
}

function chatRequest(fields: object = {}) {
  const body = { model: 'public', messages: [{ role: 'user', content: 'Hello' }], ...fields };
  return toChatRequest(chatSchema.parse(body), body);
}

const ask = (fields: object = {}, upstream = upstreamOf()) => chat.complete(chatRequest(fields), upstream);
const stream = async (fields: object = {}) =>
  Array.fromAsync(await chat.stream(chatRequest({ ...fields, stream: true }), upstreamOf()));
const sent = () => emulator.requests.map(({ bytes }) => JSON.parse(bytes.toString()));
const isFault = (fault: string) => (error: unknown) => error instanceof UpstreamError && error.fault === fault;

const USAGE = { inputTokens: 4, cachedTokens: 1, outputTokens: 2, reasoningTokens: 0 };
const TOOLS = ['look', 'listen'].map((name) => ({
  type: 'function',
  function: { name, parameters: { properties: {} } },
}));

describe('chat', () => {
  test('every field that has a counterpart is translated', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at": 1}' } };
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const fields = {
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', name: 'ann', content: [{ type: 'text', text: 'Look' }, picture] },
        { role: 'assistant', content: null, refusal: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'a gate' }] },
      ],
      max_completion_tokens: 9,
      temperature: 0.5,
      top_p: 1,
      seed: 7,
      stop: 'x',
      frequency_penalty: 0.5,
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
      reasoning_effort: 'none',
      tools: TOOLS,
      tool_choice: 'none',
      user: 'u1',
    };
    await ask(fields);
    assert.equal(emulator.requests[0]?.path, '/v2/chat');
    assert.deepEqual(sent(), [
      {
        model: 'command-a',
        stream: false,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: [{ type: 'text', text: 'Look' }, picture] },
          { role: 'assistant', tool_calls: [{ ...call, function: { name: 'look', arguments: '{"at":1}' } }] },
          { role: 'tool', tool_call_id: 'c1', content: 'a gate' },
        ],
        max_tokens: 9,
        temperature: 0.5,
        p: 0.99,
        seed: 7,
        stop_sequences: ['x'],
        frequency_penalty: 0.5,
        response_format: { type: 'json_object', json_schema: { type: 'object' } },
        thinking: { type: 'disabled' },
        tools: TOOLS.map(({ function: { name } }) => ({
          type: 'function',
          function: { name, parameters: { type: 'object', properties: {} } },
        })),
        tool_choice: 'NONE',
      },
    ]);
  });

  test('a whole answer and a stream say the same, by what is billed', async () => {
    const { body, usage } = await ask();
    assert.deepEqual(usage, USAGE);
    const chunks = await stream();
    assert.deepEqual(chunks.at(-1)?.usage, USAGE);
    const text = JSON.stringify(body);
    assert.match(text, /"content":"Good day\.".*"reasoning_content":"A greeting\.".*"finish_reason":"stop"/);
    const deltas = chunks.map((chunk) => JSON.parse(JSON.stringify(chunk.body)).choices[0].delta);
    assert.equal(deltas.map(({ content = '' }) => content).join(''), 'Good day.');
    assert.equal(deltas.map(({ reasoning_content = '' }) => reasoning_content).join(''), 'A greeting.');
  });

  test('a tool by name is any tool out of that one alone, and its calls come back', async () => {
    const fields = { tools: TOOLS, tool_choice: { type: 'function', function: { name: 'look' } } };
    const { body } = await ask(fields);
    assert.match(JSON.stringify(body), /"tool_calls":\[\{"id":"look_1".*"arguments":"\{\\"at\\":1\}"/);
    const chunks = await stream(fields);
    const pieces = chunks.flatMap((one) => JSON.parse(JSON.stringify(one.body)).choices[0].delta.tool_calls ?? []);
    const joined = [0, 1].map((at) =>
      pieces
        .filter(({ index }) => index === at)
        .map((one) => one.function.arguments)
        .join(''),
    );
    assert.deepEqual(joined, ['{"at":1}', '{}']);
    for (const { tools, tool_choice: choice } of sent()) assert.deepEqual([tools.length, choice], [1, 'REQUIRED']);
  });

  for (const [param, fields] of [
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['logit_bias', { logit_bias: { 5: 1 } }],
    ['frequency_penalty', { frequency_penalty: -1 }],
    ['stop', { stop: ['1', '2', '3', '4', '5', '6'] }],
    ['odd', { odd: 1 }],
    ['messages[0].content', { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] }],
  ] as const) {
    test(`${param} is refused before anything is sent`, async () => {
      await assert.rejects(ask(fields), { code: 'unsupported_parameter', param });
      assert.equal(emulator.requests.length, 0);
    });
  }

  for (const [status, message, fault] of [
    [400, 'too many tokens: size limit exceeded', 'client'],
    [401, 'invalid api token', 'account'],
    [402, 'please add a payment method', 'account'],
    [404, "model 'x' not found", 'config'],
    [422, 'unprocessable', 'client'],
    [429, 'too many requests', 'rate'],
    [429, 'You are using a Trial key, which is limited to 1000 API calls / month', 'account'],
    [498, 'invalid token', 'unfit'],
    [499, 'request cancelled', 'server'],
    [503, 'billing is down', 'server'],
  ] as const) {
    test(`${status} ${message} is ${fault}`, async () => {
      emulator.script({ kind: 'instead', ...refusal(status, message) });
      await assert.rejects(ask(), isFault(fault));
    });
  }

  for (const [reason, fault] of [
    ['ERROR', 'server'],
    ['TIMEOUT', 'timeout'],
  ] as const) {
    test(`an answer that ended with ${reason} is none`, async () => {
      emulator.script({ kind: 'instead', ...json(200, { finish_reason: reason, message: { role: 'assistant' } }) });
      await assert.rejects(ask(), isFault(fault));
      const end = { type: 'message-end', delta: { finish_reason: reason, error: 'marker' } };
      emulator.script({ kind: 'instead', ...eventsOf([...TEXT_EVENTS.slice(0, 3), end]) });
      await assert.rejects(stream(), isFault(fault));
    });
  }

  test('a stream that breaks off is a fault, and a wrong key the operator’s', async () => {
    emulator.script({ kind: 'instead', ...eventsOf(TEXT_EVENTS.slice(0, 5)) });
    await assert.rejects(stream(), isFault('server'));
    await assert.rejects(ask({}, upstreamOf({ apiKey: 'other' })), isFault('account'));
    await work.check?.run(upstreamOf());
    await assert.rejects(work.check?.run(upstreamOf({ apiKey: 'other' })) ?? assert.fail(), isFault('account'));
  });
});

test('its models are listed over all pages', async () => {
  assert.deepEqual(await work.listModels?.(upstreamOf()), { ids: ['command-a', 'embed-v4.0'], isWhole: true });
});

describe('vectors', () => {
  const upstream = { model: 'embed-v4.0', address: 'https://api.cohere.com', dialect: undefined };
  const embed = (fields: Partial<EmbeddingRequest>) =>
    embedding.embed(plainEmbedding(fields), upstreamOf({ model: 'embed-v4.0' }));
  const texts = (...list: string[]) => ({ kind: 'texts', texts: list }) as const;

  test('texts go with their purpose, and are not cut', async () => {
    const made = await embed({ input: texts('One', 'Two'), dimensions: 256, extra: { input_type: 'query' } });
    const vectors = ['One', 'Two'].map((text) => Buffer.from(base64Of(numbersOf(text, 256)), 'base64'));
    assert.deepEqual(made, {
      vectors,
      usage: { inputTokens: 6, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
    });
    const common = { model: 'embed-v4.0', embedding_types: ['float'] };
    await embed({ input: texts('One'), extra: { truncate: 'END' } });
    assert.deepEqual(sent(), [
      { ...common, texts: ['One', 'Two'], input_type: 'search_query', truncate: 'NONE', output_dimension: 256 },
      { ...common, texts: ['One'], input_type: 'search_document', truncate: 'END' },
    ]);
  });

  test('more than one call takes go in several', async () => {
    const { vectors, usage } = await embed({ input: texts(...Array.from({ length: 100 }, (_, at) => `t${at}`)) });
    assert.deepEqual([vectors.length, usage?.inputTokens], [100, 300]);
    assert.deepEqual(
      sent().map((body) => body.texts.length),
      [48, 48, 4],
    );
  });

  for (const [param, fields] of [
    ['input', { input: { kind: 'tokens', lists: [[1]] } }],
    ['input_type', { extra: { input_type: 'image' } }],
    ['truncate', { extra: { truncate: 'MIDDLE' } }],
    ['output_dtype', { extra: { output_dtype: 'int8' } }],
  ] as const) {
    test(`${param} is refused`, () =>
      assert.throws(() => embedding.check(plainEmbedding(fields), upstream), { code: 'unsupported_parameter', param }));
  }

  test('an answer with too few vectors, or one that is none, is garbled', async () => {
    for (const float of [[], [[1, 'x']], [[]]]) {
      emulator.script({ kind: 'instead', ...json(200, { embeddings: { float } }) });
      await assert.rejects(embed({ input: texts('One') }), isFault('garbled'));
    }
  });
});
