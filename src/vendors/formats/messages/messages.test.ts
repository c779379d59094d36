import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, UpstreamError } from '../../../errors.ts';
import { type JsonObject, type JsonValue, parseJson } from '../../../json.ts';
import { chatSchema, toChatRequest } from '../../../schemas/index.ts';
import { isObject } from '../../kit/json.ts';
import type { ChatAnswer, TokenUsage } from '../../vendor.ts';
import { toAnswer } from './answer.ts';
import { toWire } from './request.ts';
import { type AnswerDelta, joinDeltas, readDeltas, toChunks } from './stream.ts';
import { wire } from './wire.ts';

const HELLO = { role: 'user', content: 'Hello' };
const HELLO_WIRE = { role: 'user', content: [{ type: 'text', text: 'Hello' }] };

function sent(fields: JsonObject, stream = false): JsonObject {
  const body = { model: 'public/name', messages: [HELLO], ...fields };
  return JSON.parse(JSON.stringify(toWire(toChatRequest(chatSchema.parse(body), body), 'claude-x', stream)));
}

const WEATHER = { type: 'function', function: { name: 'weather', description: 'Tells it', parameters: { a: 1 } } };
const WEATHER_WIRE = { name: 'weather', description: 'Tells it', input_schema: { type: 'object', a: 1 } };

const FIELDS: readonly (readonly [name: string, given: JsonObject, expected: JsonObject])[] = [
  ['nothing but the required fields', {}, { max_tokens: 4096 }],
  ['the limit of the answer', { max_tokens: 7 }, { max_tokens: 7 }],
  ['the newer limit before the older', { max_tokens: 7, max_completion_tokens: 9 }, { max_tokens: 9 }],
  ['one stop sequence', { stop: 'END' }, { stop_sequences: ['END'] }],
  ['several stop sequences', { stop: ['A', 'B'] }, { stop_sequences: ['A', 'B'] }],
  ['no stop sequence for an empty list', { stop: [] }, {}],
  ['the user', { user: 'u-1' }, { metadata: { user_id: 'u-1' } }],
  ['the safety identifier before the user', { user: 'u', safety_identifier: 's' }, { metadata: { user_id: 's' } }],
  ['an effort', { reasoning_effort: 'xhigh' }, { output_config: { effort: 'xhigh' } }],
  ['the least effort as a low one', { reasoning_effort: 'minimal' }, { output_config: { effort: 'low' } }],
  ['no effort as no thinking', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
  ['a text format as none', { response_format: { type: 'text' } }, {}],
  [
    'a schema and an effort together',
    {
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema: { type: 'object' } } },
    },
    { output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } } },
  ],
  ['a tool', { tools: [WEATHER] }, { tools: [WEATHER_WIRE] }],
  [
    'a strict tool without parameters',
    { tools: [{ type: 'function', function: { name: 'now', strict: true } }] },
    { tools: [{ name: 'now', input_schema: { type: 'object' }, strict: true }] },
  ],
  ['a choice without tools as none', { tool_choice: 'auto', parallel_tool_calls: false, tools: [] }, {}],
  [
    'one call at a time',
    { tools: [WEATHER], parallel_tool_calls: false },
    { tools: [WEATHER_WIRE], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  ],
  [
    'no tool, which is never more than one at a time',
    { tools: [WEATHER], tool_choice: 'none', parallel_tool_calls: false },
    { tools: [WEATHER_WIRE], tool_choice: { type: 'none' } },
  ],
  [
    'any tool',
    { tools: [WEATHER], tool_choice: 'required', parallel_tool_calls: true },
    { tools: [WEATHER_WIRE], tool_choice: { type: 'any' } },
  ],
  [
    'one certain tool',
    { tools: [WEATHER], tool_choice: { type: 'function', function: { name: 'weather' } } },
    { tools: [WEATHER_WIRE], tool_choice: { type: 'tool', name: 'weather' } },
  ],
  [
    'nothing of what newer models refuse and no answer depends on',
    {
      temperature: 0.2,
      top_p: 0.9,
      top_k: 4,
      presence_penalty: 1,
      frequency_penalty: 1,
      seed: 5,
      store: true,
      metadata: { a: 'b' },
      service_tier: 'flex',
      prompt_cache_key: 'k',
      logprobs: false,
      logit_bias: {},
      modalities: ['text'],
      n: 1,
    },
    {},
  ],
  ['null as absent', { stop: null, tools: null, tool_choice: null, response_format: null, logprobs: null }, {}],
];

for (const [name, given, expected] of FIELDS) {
  test(`sends ${name}`, () => {
    assert.deepEqual(sent(given), { model: 'claude-x', max_tokens: 4096, messages: [HELLO_WIRE], ...expected });
  });
}

test('asks for a stream', () => {
  assert.equal(sent({}, true).stream, true);
  assert.equal('stream' in sent({ stream: true }), false);
});

const CALLS = [
  { id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
  { id: 'toolu_2', type: 'function', function: { name: 'now', arguments: '' } },
];
const USES = [
  { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
  { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} },
];
const said = (text: string) => ({ type: 'text', text });
const user = (...content: JsonValue[]) => ({ role: 'user', content });

const MESSAGES: readonly (readonly [name: string, given: JsonValue[], expected: JsonObject])[] = [
  [
    'leading system and developer messages as the system prompt',
    [
      { role: 'system', content: 'One' },
      { role: 'developer', content: [{ type: 'text', text: 'Two' }] },
      { role: 'system', content: '' },
      HELLO,
    ],
    { system: [said('One'), said('Two')], messages: [HELLO_WIRE] },
  ],
  [
    'a later system message as marked text of the user',
    [HELLO, { role: 'assistant', content: 'Hi' }, { role: 'system', content: 'Be brief' }, HELLO],
    {
      messages: [
        HELLO_WIRE,
        { role: 'assistant', content: [said('Hi')] },
        user(said('<system>\nBe brief\n</system>'), said('Hello')),
      ],
    },
  ],
  [
    'tool results in one message and in front of what the user says',
    [
      HELLO,
      { role: 'assistant', content: null, tool_calls: CALLS },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'Rain' },
      { role: 'user', content: 'Well?' },
      { role: 'tool', tool_call_id: 'toolu_2', content: [{ type: 'text', text: 'Noon' }] },
    ],
    {
      messages: [
        HELLO_WIRE,
        { role: 'assistant', content: USES },
        user(
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Rain' },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: [said('Noon')] },
          said('Well?'),
        ),
      ],
    },
  ],
  [
    'what the assistant said in front of what it called, and what it refused',
    [HELLO, { role: 'assistant', content: 'Let me see', tool_calls: [CALLS[0] ?? null] }],
    { messages: [HELLO_WIRE, { role: 'assistant', content: [said('Let me see'), USES[0] ?? null] }] },
  ],
  [
    'a refusal of the assistant as its words',
    [HELLO, { role: 'assistant', content: null, refusal: 'No.' }, HELLO],
    { messages: [HELLO_WIRE, { role: 'assistant', content: [said('No.')] }, HELLO_WIRE] },
  ],
  [
    'messages of one role in a row as one, and empty ones not at all',
    [HELLO, { role: 'assistant', content: ' \n' }, { role: 'user', content: [{ type: 'text', text: 'Again' }] }],
    { messages: [user(said('Hello'), said('Again'))] },
  ],
  [
    'pictures by their bytes or by their address',
    [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/jpg;base64,QUJD', detail: 'low' } },
          { type: 'image_url', image_url: { url: 'DATA:image/PNG;charset=x;base64,QUJD' } },
          { type: 'image_url', image_url: { url: 'HTTPS://Example.com/a b.png' } },
        ],
      },
    ],
    {
      messages: [
        user(
          { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'QUJD' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a%20b.png' } },
        ),
      ],
    },
  ],
  [
    'files as documents',
    [
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QUJD' } },
          { type: 'file', file: { file_data: 'data:text/markdown;base64,QUJD' } },
          { type: 'file', file: { file_data: 'https://example.com/a.pdf' } },
        ],
      },
    ],
    {
      messages: [
        user(
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'QUJD' }, title: 'a.pdf' },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ABC' } },
          { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
        ),
      ],
    },
  ],
];

for (const [name, messages, expected] of MESSAGES) {
  test(`sends ${name}`, () => {
    assert.deepEqual(sent({ messages }), { model: 'claude-x', max_tokens: 4096, ...expected });
  });
}

test('sends numbers in schemas and arguments as they were written', () => {
  const text = `{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[
    {"id":"t","type":"function","function":{"name":"f","arguments":"{\\"id\\":9007199254740993,\\"x\\":1.0}"}}]}],
    "tools":[{"type":"function","function":{"name":"f","parameters":{"maximum":1e400}}}]}`;
  const parsed = parseJson(text);
  const exact = parsed.exact();
  assert.ok(isObject(exact));
  const wire = JSON.stringify(toWire(toChatRequest(chatSchema.parse(parsed.value), exact), 'claude-x', false));
  assert.ok(wire.includes('"input":{"id":9007199254740993,"x":1.0}'));
  assert.ok(wire.includes('"input_schema":{"type":"object","maximum":1e400}'));
});

const part = (content: JsonValue) => ({ messages: [{ role: 'user', content: [content] }] });
const calling = (call: JsonValue) => ({ messages: [{ role: 'assistant', tool_calls: [call] }] });

const REFUSALS: readonly (readonly [field: string, given: JsonObject, code?: string])[] = [
  ['n', { n: 2 }],
  ['logprobs', { logprobs: true }],
  ['top_logprobs', { top_logprobs: 3 }],
  ['logit_bias', { logit_bias: { 50256: -100 } }],
  ['functions', { functions: [{ name: 'f' }] }],
  ['function_call', { function_call: 'auto' }],
  ['web_search_options', { web_search_options: {} }],
  ['audio', { audio: { voice: 'alloy', format: 'wav' } }],
  ['modalities', { modalities: ['text', 'audio'] }],
  ['response_format', { response_format: { type: 'json_object' } }],
  ['response_format.json_schema', { response_format: { type: 'json_schema' } }, 'invalid_parameter'],
  ['reasoning_effort', { reasoning_effort: 'heroic' }],
  ['tools[0]', { tools: [{ type: 'custom', custom: { name: 'f' } }] }],
  ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }, 'invalid_parameter'],
  ['tool_choice', { tools: [WEATHER], tool_choice: { type: 'allowed_tools', allowed_tools: {} } }],
  ['tool_choice', { tool_choice: 'required' }, 'invalid_parameter'],
  ['messages[0].content[0].input_audio', part({ type: 'input_audio', input_audio: { data: '', format: 'wav' } })],
  ['messages[0].content[0].type', part({ type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } })],
  ['messages[0].content[0].image_url', part({ type: 'image_url', image_url: { url: 'data:image/bmp;base64,QQ==' } })],
  [
    'messages[0].content[0].image_url',
    part({ type: 'image_url', image_url: { url: 'file:///a' } }),
    'invalid_parameter',
  ],
  [
    'messages[0].content[0].image_url',
    part({ type: 'image_url', image_url: { url: 'data:image/png,x' } }),
    'invalid_parameter',
  ],
  ['messages[0].content[0].image_url', part({ type: 'image_url', image_url: {} }), 'invalid_parameter'],
  ['messages[0].content[0].file.file_id', part({ type: 'file', file: { file_id: 'file-1' } })],
  ['messages[0].content[0].file.file_data', part({ type: 'file', file: { file_data: 'data:audio/wav;base64,QQ==' } })],
  ['messages[0].content[0].text', part({ type: 'text' }), 'invalid_parameter'],
  ['messages[0].content[0].type', { messages: [{ role: 'system', content: [{ type: 'image_url' }] }] }],
  ['messages[0].content', { messages: [{ role: 'user', content: { text: 'x' } }] }, 'invalid_parameter'],
  ['messages[0].role', { messages: [{ role: 'function', name: 'f', content: 'x' }] }],
  ['messages[0].audio', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }],
  ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }, 'invalid_parameter'],
  ['messages[0].tool_calls[0]', calling({ id: 't', type: 'custom', custom: {} })],
  ['messages[0].tool_calls[0].id', calling({ type: 'function', function: { name: 'f' } }), 'invalid_parameter'],
  [
    'messages[0].tool_calls[0].function.arguments',
    calling({ id: 't', type: 'function', function: { name: 'f', arguments: '{"a":' } }),
    'invalid_parameter',
  ],
];

for (const [field, given, code = 'unsupported_parameter'] of REFUSALS) {
  test(`refuses ${JSON.stringify(given)} with ${code} and names ${field}`, () => {
    assert.throws(
      () => sent(given),
      (error) => error instanceof ApiError && error.code === code && error.message.startsWith(`"${field}"`),
    );
  });
}

test('refuses a conversation in which nobody says anything but the system', () => {
  const messages = [{ role: 'system', content: 'One' }];
  assert.throws(
    () => sent({ messages }),
    (error) => error instanceof ApiError && error.code === 'missing_messages',
  );
});

function answer(fields: JsonObject): ChatAnswer {
  const message = { type: 'message', content: [], stop_reason: 'end_turn', usage: {}, ...fields };
  return toAnswer(JSON.stringify(message), 'public/name');
}

function choice({ body }: ChatAnswer): JsonObject {
  return (body.choices as readonly JsonObject[])[0] ?? {};
}

test('answers with a whole completion under the public name and an id of its own', () => {
  const { body } = answer({ id: 'msg_1', model: 'claude-x', content: [{ type: 'text', text: 'Hi' }] });
  assert.match(typeof body.id === 'string' ? body.id : '', /^chatcmpl-[0-9A-Za-z]{24}$/);
  assert.deepEqual(body, {
    id: body.id ?? '',
    object: 'chat.completion',
    created: 0,
    model: 'public/name',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, logprobs: null, finish_reason: 'stop' },
    ],
  });
});

test('answers with text, thinking and calls, and leaves out blocks it does not know', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm', signature: 's' },
    { type: 'redacted_thinking', data: 'x' },
    { type: 'text', text: 'A' },
    { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} },
    { type: 'text', text: 'B' },
    { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: [1, null] } },
    { type: 'tool_use', id: 'toolu_2', name: 'g', input: {} },
  ];
  assert.deepEqual(choice(answer({ content, stop_reason: 'tool_use' })), {
    index: 0,
    message: {
      role: 'assistant',
      content: 'AB',
      refusal: null,
      reasoning_content: 'Hm',
      tool_calls: [
        { id: 'toolu_1', type: 'function', function: { name: 'f', arguments: '{"a":[1,null]}' } },
        { id: 'toolu_2', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    },
    logprobs: null,
    finish_reason: 'tool_calls',
  });
});

test('answers with no content when there are only calls, and with an empty one when there is nothing', () => {
  const content = [{ type: 'tool_use', id: 't', name: 'f', input: {} }];
  assert.equal((choice(answer({ content })).message as JsonObject).content, null);
  assert.equal((choice(answer({})).message as JsonObject).content, '');
});

test('answers with the numbers of a call as the model wrote them', () => {
  const text = `{"type":"message","stop_reason":"tool_use","usage":{"input_tokens":3.0,"output_tokens":1},"content":[
    {"type":"tool_use","id":"t","name":"f","input":{"id":9007199254740993,"x":1.0}}]}`;
  const { body, usage } = toAnswer(text, 'm');
  assert.ok(JSON.stringify(body).includes('{\\"id\\":9007199254740993,\\"x\\":1.0}'));
  assert.equal(usage?.inputTokens, 3);
});

const STOP_REASONS = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  something_new: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

for (const [reason, expected] of Object.entries(STOP_REASONS)) {
  test(`finishes with ${expected} when the model stopped for ${reason}`, () => {
    assert.equal(choice(answer({ stop_reason: reason })).finish_reason, expected);
  });
}

const USAGES: readonly (readonly [name: string, given: JsonObject, expected: readonly number[]])[] = [
  ['plain counts', { input_tokens: 10, output_tokens: 5 }, [10, 0, 5, 0]],
  [
    'both sides of the cache apart',
    { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 100, cache_read_input_tokens: 1000 },
    [10, 1000, 5, 0, 100],
  ],
  [
    'thinking out of the output',
    { input_tokens: 1, output_tokens: 50, output_tokens_details: { thinking_tokens: 30 } },
    [1, 0, 20, 30],
  ],
  ['null as nothing', { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: null }, [1, 0, 2, 0]],
  [
    'thinking never above the output',
    { input_tokens: 1, output_tokens: 3, output_tokens_details: { thinking_tokens: 4 } },
    [1, 0, 0, 3],
  ],
];

for (const [name, usage, expected] of USAGES) {
  test(`counts ${name}`, () => assert.deepEqual(counts(answer({ usage }).usage), expected));
}

function counts(usage: TokenUsage | undefined): number[] {
  if (usage === undefined) return [];
  const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens } = usage;
  const written = cacheWriteTokens === undefined ? [] : [cacheWriteTokens];
  return [inputTokens, cachedTokens, outputTokens, reasoningTokens, ...written];
}

const NOT_ANSWERS = ['', '[]', 'nonsense', '{"type":"other"}', '{"type":"message","content":[]}', '{"type":"message"}'];

for (const text of NOT_ANSWERS) {
  test(`calls the answer ${JSON.stringify(text)} garbled`, () => {
    assert.throws(
      () => toAnswer(text, 'm'),
      (error) => error instanceof UpstreamError && error.fault === 'garbled',
    );
  });
}

test('takes an error under status 200 for what it is', () => {
  const text = '{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}';
  assert.throws(
    () => toAnswer(text, 'm'),
    (error) => error instanceof UpstreamError && error.fault === 'rate',
  );
});

const ERRORS: readonly (readonly [status: number, error: JsonValue, fault: string])[] = [
  [400, { type: 'invalid_request_error', message: 'messages: too many' }, 'client'],
  [400, { type: 'invalid_request_error', message: 'Your credit balance is too low to access …' }, 'account'],
  [400, { type: 'invalid_request_error', message: 'You have reached your specified API usage limits.' }, 'account'],
  [400, { type: 'invalid_request_error', message: 'tools.0.name: Your credit balance is too low' }, 'client'],
  [400, { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' }, 'policy'],
  [400, { type: 'invalid_request_error', message: '', details: { error_code: 'organization_on_hold' } }, 'account'],
  [401, { type: 'authentication_error', message: '' }, 'account'],
  [402, { type: 'billing_error', message: '' }, 'account'],
  [403, { type: 'permission_error', message: '' }, 'account'],
  [404, { type: 'not_found_error', message: 'model: x' }, 'config'],
  [409, { type: 'conflict_error', message: '' }, 'server'],
  [413, { type: 'request_too_large', message: '' }, 'unfit'],
  [429, { type: 'rate_limit_error', message: '' }, 'rate'],
  [429, { type: 'rate_limit_error', message: '', details: { error_code: 'ramp_limit_exceeded' } }, 'rate'],
  [429, { type: 'rate_limit_error', message: '', details: { error_code: 'enforced_spend_limit_reached' } }, 'account'],
  [500, { type: 'api_error', message: '' }, 'server'],
  [504, { type: 'timeout_error', message: '' }, 'timeout'],
  [529, { type: 'overloaded_error', message: '' }, 'server'],
  [503, { type: 'unavailable' }, 'server'],
  [500, 'text', 'server'],
];

for (const [status, error, fault] of ERRORS) {
  test(`reads ${status} ${JSON.stringify(error)} as ${fault}`, () => {
    assert.equal(wire.faults.ofRefusal(status, { type: 'error', error }), fault);
  });
}

type Event = (JsonObject & { readonly type: string }) | string;

async function* bytesOf(events: readonly Event[]): AsyncIterable<Buffer> {
  for (const event of events) {
    yield Buffer.from(typeof event === 'string' ? event : `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
}

async function read(events: readonly Event[]): Promise<{ pieces: AnswerDelta[]; error: unknown }> {
  const pieces: AnswerDelta[] = [];
  try {
    for await (const piece of readDeltas(bytesOf(events))) pieces.push(piece);
  } catch (error) {
    return { pieces, error };
  }
  return { pieces, error: undefined };
}

const START = {
  type: 'message_start',
  message: { usage: { input_tokens: 9, cache_read_input_tokens: 4, output_tokens: 1 } },
};
const END = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: null, output_tokens: 7 } },
  { type: 'message_stop' },
];
const text = (words: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } });
const deltas = (pieces: readonly AnswerDelta[]) => pieces.map(({ delta }) => delta);

test('streams text, and tells the usage once the output is counted', async () => {
  const { pieces, error } = await read([
    START,
    { type: 'ping' },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    text('Hel'),
    ': comment\n\n',
    { type: 'novelty', data: 1 },
    text(''),
    text('lo'),
    { type: 'content_block_stop', index: 0 },
    ...END,
  ]);
  assert.equal(error, undefined);
  assert.deepEqual(deltas(pieces), [{ role: 'assistant', content: '' }, { content: 'Hel' }, { content: 'lo' }, {}]);
  assert.deepEqual(
    pieces.map(({ finish }) => finish),
    [null, null, null, 'stop'],
  );
  assert.deepEqual(
    pieces.map(({ usage }) => counts(usage)),
    [[], [], [], [9, 4, 7, 0]],
  );
});

test('streams calls, numbered without the other blocks, and an empty input as an object', async () => {
  const start = (index: number, block: JsonObject) => ({ type: 'content_block_start', index, content_block: block });
  const json = (index: number, partial_json: string) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json },
  });
  const stop = (index: number) => ({ type: 'content_block_stop', index });
  const { pieces } = await read([
    START,
    start(0, { type: 'thinking', thinking: '', signature: '' }),
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
    stop(0),
    start(1, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }),
    json(1, ''),
    json(1, '{"a":'),
    json(1, '1.0}'),
    stop(1),
    start(2, { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} }),
    json(2, '{"query":"x"}'),
    stop(2),
    start(3, { type: 'tool_use', id: 'toolu_2', name: 'g', input: {} }),
    json(3, ''),
    stop(3),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ]);
  assert.deepEqual(deltas(pieces), [
    { role: 'assistant', content: '' },
    { reasoning_content: 'Hm' },
    { tool_calls: [{ index: 0, id: 'toolu_1', type: 'function', function: { name: 'f', arguments: '' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '1.0}' } }] },
    { tool_calls: [{ index: 1, id: 'toolu_2', type: 'function', function: { name: 'g', arguments: '' } }] },
    { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
    {},
  ]);
  assert.equal(pieces.at(-1)?.finish, 'tool_calls');
});

test('wraps every piece into a chunk with one id, and usage alone into none', async () => {
  const soFar = { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 2 } };
  const chunks = await Array.fromAsync(
    toChunks(readDeltas(bytesOf([START, text('Hi'), soFar, ...END])), 'public/name'),
  );
  const [first, second, usageOnly, last] = chunks;
  assert.deepEqual(second?.body, {
    id: first?.body?.id ?? '',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'public/name',
    choices: [{ index: 0, delta: { content: 'Hi' }, logprobs: null, finish_reason: null }],
  });
  assert.equal(usageOnly?.body, undefined);
  assert.deepEqual(counts(usageOnly?.usage), [9, 4, 2, 0]);
  assert.deepEqual(counts(last?.usage), [9, 4, 7, 0]);
});

test('gathers a stream into the same completion as a document gives', async () => {
  const call = { type: 'tool_use', id: 't', name: 'f', input: {} };
  const input = { type: 'input_json_delta', partial_json: '{"id":9007199254740993}' };
  const { body, usage } = await joinDeltas(
    readDeltas(
      bytesOf([
        START,
        text('A'),
        text('B'),
        { type: 'content_block_start', index: 1, content_block: call },
        { type: 'content_block_delta', index: 1, delta: input },
        { type: 'content_block_stop', index: 1 },
        ...END,
      ]),
    ),
    'm',
  );
  assert.deepEqual(choice({ body, usage }).message, {
    role: 'assistant',
    content: 'AB',
    refusal: null,
    tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{"id":9007199254740993}' } }],
  });
  assert.deepEqual(counts(usage), [9, 4, 7, 0]);
});

const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
const BROKEN: readonly (readonly [name: string, events: readonly Event[], pieces: number, fault: string])[] = [
  ['breaks off', [START, text('A')], 2, 'server'],
  ['breaks off inside an event', [START, 'event: x\ndata: {"type":"content_bl'], 1, 'server'],
  ['ends without a reason', [START, text('A'), { type: 'message_stop' }], 2, 'server'],
  ['gives a reason and breaks off', [START, END[0] ?? ''], 2, 'server'],
  ['tells an error', [START, text('A'), overloaded], 2, 'server'],
  ['tells an error at once', [overloaded], 0, 'server'],
  ['tells a rate limit', [START, { type: 'error', error: { type: 'rate_limit_error' } }], 1, 'rate'],
  ['tells a timeout', [START, { type: 'error', error: { type: 'timeout_error' } }], 1, 'timeout'],
  [
    'is stopped by a policy',
    [
      START,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' },
      },
    ],
    1,
    'policy',
  ],
  ['tells an error that nobody knows', [START, { type: 'error', error: null }], 1, 'server'],
  ['tells an error that is no JSON', [START, 'event: error\ndata: oops\n\n'], 1, 'server'],
  ['holds nonsense', [START, 'data: nonsense\n\n'], 1, 'garbled'],
  [
    'calls a tool without a name',
    [{ type: 'content_block_start', index: 0, content_block: { type: 'tool_use' } }],
    0,
    'garbled',
  ],
];

for (const [name, events, pieces, fault] of BROKEN) {
  test(`throws ${fault} after ${pieces} pieces of a stream that ${name}`, async () => {
    const { pieces: got, error } = await read(events);
    assert.equal(got.length, pieces);
    assert.ok(error instanceof UpstreamError);
    assert.equal(error.fault, fault);
  });
}

test('ends quietly when a stream holds nothing, and does not take that for an answer', async () => {
  for (const events of [[], [{ type: 'ping' }], [': hello\n\n']]) {
    assert.deepEqual(await read(events), { pieces: [], error: undefined });
    await assert.rejects(joinDeltas(readDeltas(bytesOf(events)), 'm'), UpstreamError);
  }
});

test('does not mind what happens behind the end of the message', async () => {
  const { pieces, error } = await read([START, ...END, 'data: nonsense\n\n', overloaded]);
  assert.deepEqual([pieces.length, error], [2, undefined]);
});

test('asks for no more than is held where the caller set no limit, and for what the caller set', () => {
  const body = { model: 'm', messages: [HELLO] };
  const asked = (fields: object) => toWire({ ...toChatRequest(chatSchema.parse(body), body), ...fields }, 'x', false);
  assert.partialDeepStrictEqual(asked({ heldOutputTokens: 64_000 }), { max_tokens: 64_000 });
  assert.partialDeepStrictEqual(asked({ heldOutputTokens: 64_000, maxOutputTokens: 5 }), { max_tokens: 5 });
});

test('refuses by name what nobody can translate, unless it is null', () => {
  assert.throws(() => sent({ repetition_penalty: 1.1 }), {
    code: 'unsupported_parameter',
    message: '"repetition_penalty": this model takes none.',
  });
  assert.deepEqual(sent({ repetition_penalty: null }), sent({}));
});
