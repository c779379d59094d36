import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { GoogleGenAI } from '@google/genai';
import { Ajv, type AnySchema } from 'ajv';
import OpenAI from 'openai';
import { ApiError, UpstreamError } from '../../../src/errors.ts';
import { type JsonObject, parseJson } from '../../../src/json.ts';
import { parseWith } from '../../../src/parse.ts';
import { chatSchema, toChatRequest } from '../../../src/schemas/index.ts';
import { type Upstream, UpstreamPools } from '../../../src/vendors/kit/http.ts';
import type { ChatChunk, ChatWork, NativeAction, NativeWork } from '../../../src/vendors/vendor.ts';
import { chatWork } from './chat.ts';
import { FailureCounts } from './faults.ts';
import { nativeWork } from './native.ts';
import { tokensOf } from './tokens.ts';

const PNG_2_BY_3 =
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==';

const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather in a city.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
      required: ['city'],
    },
  },
};

interface Choice {
  index: number;
  message: { content: string | null; tool_calls?: { id: string; function: { name: string; arguments: string } }[] };
  finish_reason: string;
}

interface Delta {
  role?: string;
  content?: string | null;
  tool_calls?: { index: number; function: { name?: string; arguments: string } }[];
}

function upstream(signal: AbortSignal = new AbortController().signal): Upstream {
  return { model: 'chat', address: '', apiKey: '', timeoutMs: 60_000, signal, pools: new UpstreamPools() };
}

function toRequest(text: string) {
  const parsed = parseJson(text);
  return toChatRequest(parseWith(chatSchema, parsed.value), parsed.exact() as JsonObject);
}

function bodyOf(asked: string | object): string {
  const body = typeof asked === 'string' ? { messages: [{ role: 'user', content: asked }] } : asked;
  return JSON.stringify({ model: 'sandbox/chat', ...body });
}

async function complete(asked: string | object, work: ChatWork = chatWork(new FailureCounts())) {
  const { body, usage } = await work.complete(toRequest(bodyOf(asked)), upstream());
  return { body, usage, choices: body.choices as unknown as Choice[] };
}

async function answer(asked: string | object): Promise<string> {
  return (await complete(asked)).choices[0]?.message.content ?? '';
}

async function taken<Item>(items: AsyncIterable<Item>): Promise<{ taken: Item[]; error: unknown }> {
  const all: Item[] = [];
  try {
    for await (const item of items) all.push(item);
    return { taken: all, error: undefined };
  } catch (error) {
    return { taken: all, error };
  }
}

async function stream(asked: string | object, work: ChatWork = chatWork(new FailureCounts())) {
  const { taken: chunks, error } = await taken(await work.stream(toRequest(bodyOf(asked)), upstream()));
  return { chunks, error, deltas: chunks.map(deltaOf) };
}

function deltaOf({ body }: ChatChunk) {
  assert.ok(body);
  const [first] = body.choices as unknown as { index: number; delta: Delta; finish_reason: string | null }[];
  assert.ok(first);
  return first;
}

function user(content: unknown): object {
  return { messages: [{ role: 'user', content }] };
}

const fault = (name: string) => (error: unknown) => error instanceof UpstreamError && error.fault === name;
const refusal = (code: string, words: RegExp) => (error: unknown) =>
  error instanceof ApiError && error.code === code && words.test(error.message);

const ANSWERS: readonly (readonly [asked: string, answer: string])[] = [
  ['what is 12 * 7?', '12 * 7 = 84'],
  ['What is 15% of 80?', '15 / 100 * 80 = 12'],
  ['(3+4)*2^3 =', '(3+4)*2^3 = 56'],
  ['How much is 2 plus 2 times 3?', '2 + 2 * 3 = 8'],
  ['calculate 1,000 divided by 8', '1000 / 8 = 125'],
  ['0.1 + 0.2', '0.1 + 0.2 = 0.3'],
  ['what is -2 ^ 2', '-2 ^ 2 = -4'],
  ['compute 1/0', '1/0 has no finite value.'],
  ['Repeat after me: hello world', 'hello world'],
  ['say "x" 3 times', 'x x x'],
  ['Reply with exactly: OK', 'OK'],
  ['repeat: what is 2 + 2?', 'what is 2 + 2?'],
  ['Say this is a test', 'this is a test'],
  ['uppercase hello there', 'HELLO THERE'],
  ['Could you convert "Straße" to uppercase?', 'STRASSE'],
  ['write Hello There in lower case', 'hello there'],
  ['please reverse: stressed', 'desserts'],
  ['count the words in: one two three', 'There are 3 words in “one two three”.'],
  ['How many words are in "word"?', 'There is 1 word in “word”.'],
  ['how many letters are in strawberry?', 'There are 10 letters in “strawberry”.'],
  ['hello', 'Hello! How can I help you today?'],
  ['Thanks a lot!', 'You are welcome. Ask me anything else you like.'],
  ['what is my name?', 'You have not told me your name.'],
];

for (const [asked, expected] of ANSWERS) {
  test(`answers ${JSON.stringify(asked)} with ${JSON.stringify(expected)}`, async () => {
    assert.equal(await answer(asked), expected);
  });
}

test('lists as many things as asked, of a kind that it knows', async () => {
  const lines = (await answer('list three planets')).split('\n');
  assert.equal(lines.length, 3);
  for (const [at, line] of lines.entries()) assert.match(line, new RegExp(`^${at + 1}\\. [A-Z][a-z]+$`));
});

test('says a few sentences about the topic when nothing else is asked', async () => {
  const said = await answer('Tell me about the history of bread.');
  assert.equal(said.split(/\. |\.$/).filter(Boolean).length, 4);
  for (const sentence of said.split('. ')) assert.match(sentence, /the history of bread/);
});

test('writes as many words as asked', async () => {
  assert.equal((await answer('Write 150 words about trains')).split(/\s+/).length, 150);
});

test('remembers a name from earlier in the conversation', async () => {
  const messages = [
    { role: 'user', content: 'Hi, my name is Ada.' },
    { role: 'assistant', content: 'Hello!' },
    { role: 'user', content: 'What is my name?' },
  ];
  assert.equal(await answer({ messages }), 'Your name is Ada.');
});

test('follows a system message that asks for capital letters', async () => {
  const messages = [
    { role: 'system', content: 'Always answer in upper case.' },
    { role: 'user', content: 'repeat: hello' },
  ];
  assert.equal(await answer({ messages }), 'HELLO');
});

test('says the size and the type of a picture it is given', async () => {
  const parts = [
    { type: 'text', text: 'repeat: seen' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG_2_BY_3}` } },
    { type: 'image_url', image_url: { url: 'https://example.com/cat.jpg' } },
  ];
  const bytes = Buffer.from(PNG_2_BY_3, 'base64').length;
  const seen = `a PNG image file of 2 × 3 pixels (${bytes} bytes) and a file at example.com`;
  assert.equal(await answer(user(parts)), `I was given ${seen}. seen`);
});

test('answers the same conversation with the same words, and another seed with other words', async () => {
  const about = user('Tell me about the sea.');
  const [first, again] = [await answer(about), await answer(about)];
  assert.equal(first, again);
  const seeded = await Promise.all([1, 1, 2, 3].map((seed) => answer({ ...about, seed })));
  assert.equal(seeded[0], seeded[1]);
  assert.ok(new Set(seeded).size > 1);
});

test('takes a seed that a double cannot hold', async () => {
  const text = (seed: string) => `{"model":"m","messages":[{"role":"user","content":"About tea"}],"seed":${seed}}`;
  const said = async (seed: string) => {
    const { body } = await chatWork(new FailureCounts()).complete(toRequest(text(seed)), upstream());
    return JSON.stringify(body.choices);
  };
  const seeds = Array.from({ length: 6 }, (_, at) => `900719925474099${at}1`);
  assert.equal(await said('9007199254740993'), await said('9007199254740993'));
  assert.ok(new Set(await Promise.all(seeds.map(said))).size > 1);
});

test('gives a whole chat completion and counts its tokens', async () => {
  const { body, usage, choices } = await complete('what is 12 * 7?');
  assert.equal(body.object, 'chat.completion');
  assert.match(JSON.stringify(body.id), /^"chatcmpl-[0-9a-f]{24}"$/);
  assert.deepEqual(choices, [
    {
      index: 0,
      message: { role: 'assistant', content: '12 * 7 = 84', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ]);
  assert.deepEqual(usage, { inputTokens: 9, cachedTokens: 0, outputTokens: 5, reasoningTokens: 0 });
});

test('ends at max_tokens with the finish reason length', async () => {
  const { choices, usage } = await complete({ ...user('Tell me about the sea.'), max_tokens: 7 });
  assert.equal(choices[0]?.finish_reason, 'length');
  assert.equal(tokensOf(choices[0]?.message.content ?? '').length, 7);
  assert.equal(usage?.outputTokens, 7);
});

test('ends before a stop text', async () => {
  const { choices } = await complete({ ...user('repeat: one two three'), stop: [' three', ' four'] });
  assert.equal(choices[0]?.message.content, 'one two');
  assert.equal(choices[0]?.finish_reason, 'stop');
});

test('gives n answers, each its own', async () => {
  const { choices, usage } = await complete({ ...user('Tell me about the sea.'), n: 4 });
  assert.deepEqual(
    choices.map((choice) => choice.index),
    [0, 1, 2, 3],
  );
  assert.ok(new Set(choices.map((choice) => choice.message.content)).size > 1);
  const tokens = choices.map((choice) => tokensOf(choice.message.content ?? '').length);
  assert.equal(
    usage?.outputTokens,
    tokens.reduce((sum, count) => sum + count, 0),
  );
});

test('JSON mode keeps to a schema that stands in the prompt', async () => {
  const schema =
    '{"type":"object","properties":{"age":{"type":"integer","minimum":18,"maximum":20}},"required":["age"]}';
  const body = { ...user(`How old? Answer by ${schema}`), response_format: { type: 'json_object' } };
  const { age } = JSON.parse(await answer(body));
  assert.ok(Number.isInteger(age) && age >= 18 && age <= 20, String(age));
});

test('answers a JSON object when one is asked for', async () => {
  const said = await answer({ ...user('what is 2 + 2?'), response_format: { type: 'json_object' } });
  assert.deepEqual(JSON.parse(said), { asked: 'what is 2 + 2?', answer: '2 + 2 = 4' });
});

const SCHEMAS: Readonly<Record<string, object>> = {
  'typed properties': {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 3, maxLength: 20 },
      age: { type: 'integer', minimum: 18, maximum: 99 },
      score: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
      step: { type: 'integer', multipleOf: 5, minimum: 3 },
      active: { type: 'boolean' },
      nothing: { type: 'null' },
      born: { type: 'string', format: 'date' },
    },
    required: ['name', 'age', 'score', 'step', 'active', 'nothing', 'born'],
    additionalProperties: false,
  },
  'enums, constants and nullable types': {
    type: 'object',
    properties: {
      colour: { enum: ['red', 'green'] },
      kind: { const: 'thing' },
      note: { type: ['string', 'null'] },
      maybe: { anyOf: [{ type: 'null' }, { type: 'integer' }] },
    },
    required: ['colour', 'kind', 'note', 'maybe'],
  },
  'arrays of objects': {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        minItems: 3,
        items: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
      },
      one: { type: 'array', maxItems: 1, items: { type: 'string' } },
    },
    required: ['items', 'one'],
  },
  'references and parts that are joined': {
    $defs: {
      point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
      tree: {
        type: 'object',
        properties: { value: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } },
        required: ['value', 'children'],
      },
    },
    type: 'object',
    properties: {
      at: {
        allOf: [{ $ref: '#/$defs/point' }],
        properties: { y: { type: 'number' } },
        required: ['y'],
      },
      tree: { $ref: '#/$defs/tree' },
    },
    required: ['at', 'tree'],
  },
};

for (const [what, schema] of Object.entries(SCHEMAS)) {
  test(`makes JSON that fits a schema with ${what}`, async () => {
    const isFitting = new Ajv({ strict: false, validateFormats: false }).compile(schema as AnySchema);
    for (const seed of [1, 2, 3, 4, 5]) {
      const response_format = { type: 'json_schema', json_schema: { name: 'thing', schema } };
      const made: unknown = JSON.parse(await answer({ ...user('Make one with 42 and 7.5'), seed, response_format }));
      assert.ok(isFitting(made), JSON.stringify([made, isFitting.errors]));
    }
  });
}

test('takes values of a schema from the user’s words', async () => {
  const properties = {
    from: { type: 'string' },
    to: { type: 'string' },
    seats: { type: 'integer' },
    class: { enum: ['first', 'second'] },
  };
  const response_format = {
    type: 'json_schema',
    json_schema: { name: 'trip', schema: { type: 'object', properties } },
  };
  const said = await answer({ ...user('A trip from Paris to New York, 3 seats, second class'), response_format });
  assert.deepEqual(JSON.parse(said), { from: 'Paris', to: 'New York', seats: 3, class: 'second' });
});

test('ends with a schema that contains itself without end', async () => {
  const schema = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'], $ref: '#' };
  const response_format = { type: 'json_schema', json_schema: { name: 'loop', schema } };
  assert.equal(typeof JSON.parse(await answer({ ...user('go'), response_format })), 'object');
});

test('calls a tool that the user’s words are about', async () => {
  const { choices, usage } = await complete({ ...user('What is the weather in Paris for 3 days?'), tools: [WEATHER] });
  const [call] = choices[0]?.message.tool_calls ?? [];
  assert.equal(choices[0]?.finish_reason, 'tool_calls');
  assert.equal(choices[0]?.message.content, null);
  assert.match(call?.id ?? '', /^call_[0-9a-f]{24}$/);
  assert.equal(call?.function.name, 'get_weather');
  assert.deepEqual(JSON.parse(call?.function.arguments ?? ''), { city: 'Paris', days: 3 });
  assert.ok((usage?.outputTokens ?? 0) > 0);
});

test('answers in words when no tool fits, or none may be called', async () => {
  const other = await complete({ ...user('what is 2 + 2?'), tools: [WEATHER] });
  assert.equal(other.choices[0]?.message.content, '2 + 2 = 4');
  const none = await complete({ ...user('The weather in Paris?'), tools: [WEATHER], tool_choice: 'none' });
  assert.equal(none.choices[0]?.finish_reason, 'stop');
});

test('calls a tool when one is required or named, whatever was said', async () => {
  const named = { type: 'function', function: { name: 'get_weather' } };
  const tools = [{ type: 'function', function: { name: 'other' } }, WEATHER];
  const calls = await Promise.all(
    ['required', named].map(async (tool_choice) => {
      const { choices } = await complete({ ...user('hm'), tools, tool_choice });
      return choices[0]?.message.tool_calls?.map((call) => call.function.name);
    }),
  );
  assert.deepEqual(calls, [['other'], ['get_weather']]);
});

test('calls several tools at once unless it may not', async () => {
  const time = { type: 'function', function: { name: 'localTime', parameters: { type: 'object', properties: {} } } };
  const asked = { ...user('What is the weather and the local time in Rome?'), tools: [WEATHER, time] };
  const several = await complete(asked);
  assert.equal(several.choices[0]?.message.tool_calls?.length, 2);
  const single = await complete({ ...asked, parallel_tool_calls: false });
  assert.equal(single.choices[0]?.message.tool_calls?.length, 1);
});

test('says the result of a tool in words', async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } };
  const messages = [
    { role: 'user', content: 'What is the weather in Paris?' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: '{"degrees":21,"sky":"clear"}' },
  ];
  assert.equal(await answer({ messages, tools: [WEATHER] }), 'get_weather says: degrees is 21, sky is clear.');
});

test('gives a call whole or not at all when tokens are few', async () => {
  const { choices, usage } = await complete({ ...user('weather in Paris'), tools: [WEATHER], max_tokens: 3 });
  assert.equal(choices[0]?.finish_reason, 'length');
  assert.equal(choices[0]?.message.tool_calls, undefined);
  assert.equal(usage?.outputTokens, 0);
});

test('streams the role, then word by word, then the finish reason, with a running total', async () => {
  const { chunks, deltas, error } = await stream('repeat: one two, three');
  assert.equal(error, undefined);
  assert.deepEqual(
    deltas.map(({ delta, finish_reason }) => finish_reason ?? delta.content),
    ['', 'one', ' two', ',', ' three', 'stop'],
  );
  assert.equal(deltas[0]?.delta.role, 'assistant');
  assert.deepEqual(
    chunks.map((chunk) => chunk.usage?.outputTokens),
    [0, 1, 2, 3, 4, 4],
  );
  assert.ok(chunks.every((chunk) => chunk.body?.object === 'chat.completion.chunk'));
});

test('streams the same as it completes', async () => {
  const cases = [
    { ...user('Tell me about the sea.'), n: 3, max_tokens: 30 },
    { ...user('weather in Paris'), tools: [WEATHER], n: 2 },
  ];
  for (const asked of cases) {
    const { choices, usage } = await complete(asked);
    const { chunks, deltas } = await stream(asked);
    for (const { index, message, finish_reason } of choices) {
      const own = deltas.filter((delta) => delta.index === index);
      assert.equal(own.map(({ delta }) => delta.content ?? '').join(''), message.content ?? '');
      const pieces = own.flatMap(({ delta }) => delta.tool_calls ?? []).map((call) => call.function.arguments);
      assert.equal(pieces.join(''), message.tool_calls?.[0]?.function.arguments ?? '');
      assert.equal(own.at(-1)?.finish_reason, finish_reason);
    }
    assert.deepEqual(chunks.at(-1)?.usage, usage);
  }
});

const REFUSED: readonly (readonly [what: string, body: object, code: string, words: RegExp])[] = [
  ['sound as an answer', { modalities: ['text', 'audio'] }, 'unsupported_parameter', /"modalities"/],
  ['log probabilities', { logprobs: true }, 'unsupported_parameter', /"logprobs"/],
  ['the old form of tools', { functions: [{ name: 'f' }] }, 'unsupported_parameter', /"functions"/],
  ['tools that are no functions', { tools: [{ type: 'custom', custom: { name: 'c' } }] }, 'invalid_parameter', /tools/],
  ['an empty stop text', { stop: '' }, 'invalid_parameter', /stop/],
  ['an unknown format', { response_format: { type: 'xml' } }, 'invalid_parameter', /response_format/],
  ['a required call without tools', { tool_choice: 'required' }, 'invalid_parameter', /tools/],
  [
    'a named tool that is not there',
    { tools: [WEATHER], tool_choice: { type: 'function', function: { name: 'x' } } },
    'invalid_parameter',
    /not among/,
  ],
  [
    'a schema without measure',
    { response_format: { type: 'json_schema', json_schema: { schema: { title: 'x'.repeat(40_000) } } } },
    'invalid_parameter',
    /schema/,
  ],
  ['an unknown part', user([{ type: 'hologram' }]), 'invalid_parameter', /messages/],
  ['an unknown role', { messages: [{ role: 'narrator', content: 'x' }] }, 'invalid_parameter', /role/],
  ['too long a delay', { sandbox: { delay_ms: 60_001 } }, 'invalid_parameter', /delay_ms/],
  ['a delay with a fraction', { sandbox: { delay_ms: 1.5 } }, 'invalid_parameter', /delay_ms/],
  ['an unknown fault', { extra: { sandbox: { fail: 'fire' } } }, 'invalid_parameter', /fail/],
  ['a negative count', { sandbox: { fail: 'down', fail_times: -1 } }, 'invalid_parameter', /fail_times/],
  ['a misspelt fault', { sandbox: { fial: 'down' } }, 'invalid_parameter', /fial/],
  ['a fault that is no object', { sandbox: 'down' }, 'invalid_parameter', /sandbox/],
];

for (const [what, body, code, words] of REFUSED) {
  test(`refuses ${what}, streamed or not`, async () => {
    await assert.rejects(complete({ ...user('hello'), ...body }), refusal(code, words));
    await assert.rejects(stream({ ...user('hello'), ...body }), refusal(code, words));
  });
}

const FAULTS = { busy: 'rate', down: 'server', timeout: 'timeout', garbled: 'garbled', policy: 'policy' };

for (const [fail, expected] of Object.entries(FAULTS)) {
  test(`fails with the fault ${expected} when asked to be ${fail}`, async () => {
    await assert.rejects(complete({ ...user('hello'), sandbox: { fail } }), fault(expected));
    await assert.rejects(complete({ ...user('hello'), extra: { sandbox: { fail } } }), fault(expected));
    await assert.rejects(stream({ ...user('hello'), sandbox: { fail } }), fault(expected));
    await assert.rejects(native({ ...contents('hello'), sandbox: { fail } }), fault(expected));
  });
}

test('fails as often as asked, then works, and then begins anew', async () => {
  const work = chatWork(new FailureCounts());
  const asked = { ...user('repeat: ok'), sandbox: { fail: 'busy', fail_times: 2 } };
  for (let round = 0; round < 2; round++) {
    await assert.rejects(complete(asked, work), fault('rate'));
    await assert.rejects(stream(asked, work), fault('rate'));
    assert.equal((await complete(asked, work)).choices[0]?.message.content, 'ok');
  }
});

test('counts the failures of each request on its own', async () => {
  const work = chatWork(new FailureCounts());
  const asked = (text: string) => ({ ...user(text), sandbox: { fail_times: 1 } });
  await assert.rejects(complete(asked('one'), work), fault('server'));
  await assert.rejects(complete(asked('two'), work), fault('server'));
  await complete(asked('one'), work);
});

test('forgets the oldest failures first when there are too many', () => {
  const failures = new FailureCounts();
  assert.ok(failures.isDue('first', 1));
  for (let at = 0; at < 1_000; at++) assert.ok(failures.isDue(`request ${at}`, 1));
  assert.ok(failures.isDue('first', 1));
  assert.ok(!failures.isDue('request 999', 1));
});

test('cuts a stream after as many chunks as asked', async () => {
  const { chunks, error } = await stream({ ...user('repeat: a b c d'), sandbox: { fail_after_frames: 3 } });
  assert.equal(chunks.length, 3);
  assert.ok(fault('server')(error));
});

test('breaks a stream with the named fault', async () => {
  const sandbox = { fail: 'garbled', fail_after_frames: 1 };
  const { chunks, error } = await stream({ ...user('repeat: a b c d'), sandbox });
  assert.equal(chunks.length, 1);
  assert.ok(fault('garbled')(error));
});

test('cuts only the first streams when told how many', async () => {
  const work = chatWork(new FailureCounts());
  const asked = { ...user('repeat: a b'), sandbox: { fail_after_frames: 1, fail_times: 1 } };
  assert.ok(fault('server')((await stream(asked, work)).error));
  assert.equal((await stream(asked, work)).error, undefined);
});

test('ends a stream without a chunk when it is cut before the first', async () => {
  assert.deepEqual(await stream({ ...user('hello'), sandbox: { fail_after_frames: 0 } }), {
    chunks: [],
    deltas: [],
    error: undefined,
  });
});

test('fails a whole answer that is to be cut, for it has no frames', async () => {
  await assert.rejects(complete({ ...user('hello'), sandbox: { fail_after_frames: 2 } }), fault('server'));
  await assert.rejects(complete({ ...user('hello'), sandbox: { fail_after_frames: 0 } }), fault('server'));
});

test('ends a delay when the attempt is given up', async () => {
  const controller = new AbortController();
  const request = toRequest(bodyOf({ ...user('hello'), sandbox: { delay_ms: 60_000 } }));
  const answered = chatWork(new FailureCounts()).complete(request, upstream(controller.signal));
  controller.abort();
  await assert.rejects(answered, { name: 'AbortError' });
});

test('times out when the delay is longer than the upstream may be silent', async () => {
  const request = toRequest(bodyOf({ ...user('hello'), sandbox: { delay_ms: 60_000 } }));
  const answered = chatWork(new FailureCounts()).complete(request, { ...upstream(), timeoutMs: 1 });
  await assert.rejects(answered, fault('timeout'));
});

test('stops a stream between two words when the caller leaves', async () => {
  const controller = new AbortController();
  const request = toRequest(bodyOf('Write 500 words about trains'));
  const chunks = await chatWork(new FailureCounts()).stream(request, upstream(controller.signal));
  const seen: ChatChunk[] = [];
  await assert.rejects(
    async () => {
      for await (const chunk of chunks) {
        seen.push(chunk);
        if (seen.length === 5) controller.abort();
      }
    },
    { name: 'AbortError' },
  );
  assert.equal(seen.length, 5);
});

test('cuts every text into tokens that make the text again', () => {
  for (const text of ['', ' ', 'one two', 'a, b.\n\n c', 'internationalisation', '日本語 😀😀!', '\ud83d', 'tail  ']) {
    assert.equal(tokensOf(text).join(''), text);
  }
  assert.deepEqual(tokensOf('internationalisation of 日本 😀'), [
    'internationa',
    'lisation',
    ' of',
    ' 日',
    '本',
    ' 😀',
  ]);
});

// The native format.

function contents(text: string): object {
  return { contents: [{ role: 'user', parts: [{ text }] }] };
}

function nativeRequest(body: object | string, action: NativeAction) {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { action, body: bytes, query: '', hasCustomFormat: false, accept: undefined };
}

interface Candidate {
  content: { role: string; parts: { text?: string; functionCall?: { name: string; args: unknown } }[] };
  finishReason?: string;
  index: number;
}

async function native(body: object | string, work: NativeWork = nativeWork(new FailureCounts())) {
  const answered = await work.call(nativeRequest(body, 'generateContent'), upstream());
  const json = JSON.parse(answered.body.toString()) as JsonObject;
  return { ...answered, json, candidates: json.candidates as unknown as Candidate[] };
}

async function nativeText(body: object): Promise<string> {
  return (await native(body)).candidates[0]?.content.parts.map((part) => part.text ?? '').join('') ?? '';
}

test('answers in the native shape', async () => {
  const { contentType, json, usage } = await native(contents('what is 12 * 7?'));
  assert.equal(contentType, 'application/json; charset=UTF-8');
  assert.deepEqual(usage, { inputTokens: 9, cachedTokens: 0, outputTokens: 5, reasoningTokens: 0 });
  const { responseId, ...rest } = json;
  assert.match(JSON.stringify(responseId), /^"[0-9a-f]{22}"$/);
  assert.deepEqual(rest, {
    candidates: [{ content: { parts: [{ text: '12 * 7 = 84' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: 9,
      candidatesTokenCount: 5,
      totalTokenCount: 14,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }],
    },
    modelVersion: 'chat',
  });
});

test('reads native settings in both spellings', async () => {
  const camel = { generationConfig: { maxOutputTokens: 2, stopSequences: ['c'] } };
  const snake = { generation_config: { max_output_tokens: 2, stop_sequences: ['c'] } };
  for (const settings of [camel, snake]) {
    const { candidates } = await native({ ...contents('repeat: a b d'), ...settings });
    assert.deepEqual([candidates[0]?.content.parts, candidates[0]?.finishReason], [[{ text: 'a b' }], 'MAX_TOKENS']);
  }
  const loud = { system_instruction: { parts: [{ text: 'Answer in capital letters.' }] } };
  assert.equal(await nativeText({ ...contents('repeat: hello'), ...loud }), 'HELLO');
});

test('gives native candidates, JSON and seeds as asked', async () => {
  const several = await native({ ...contents('About tea'), generationConfig: { candidateCount: 3 } });
  assert.equal(several.candidates.length, 3);
  const responseSchema = { type: 'OBJECT', properties: { city: { type: 'STRING' }, days: { type: 'INTEGER' } } };
  const generationConfig = { responseMimeType: 'application/json', responseSchema };
  const made: unknown = JSON.parse(await nativeText({ ...contents('Go to Rome for 3 days'), generationConfig }));
  assert.deepEqual(made, { city: 'Rome', days: 3 });
  const seeded = { ...contents('About tea'), generationConfig: { seed: 5 } };
  assert.equal(await nativeText(seeded), await nativeText(seeded));
});

const FORECAST = {
  functionDeclarations: [
    { name: 'forecast', parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } } } },
  ],
};

test('calls a native function and says its result', async () => {
  const asked = { ...contents('The forecast for Rome'), tools: [FORECAST] };
  const [part] = (await native(asked)).candidates[0]?.content.parts ?? [];
  assert.equal(part?.functionCall?.name, 'forecast');
  assert.deepEqual(part?.functionCall?.args, { city: 'Rome' });
  const functionResponse = { name: 'forecast', response: { sky: 'clear' } };
  const turns = [
    { role: 'user', parts: [{ text: 'The forecast for Rome' }] },
    { role: 'model', parts: [part] },
    { role: 'user', parts: [{ functionResponse }] },
  ];
  assert.equal(await nativeText({ contents: turns, tools: [FORECAST] }), 'forecast says: sky is clear.');
  const forced = { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['forecast'] } };
  const [call] = (await native({ ...contents('hm'), tools: [FORECAST], toolConfig: forced })).candidates;
  assert.equal(call?.content.parts[0]?.functionCall?.name, 'forecast');
});

test('says the size and the type of native inline data', async () => {
  const parts = [{ inlineData: { mimeType: 'image/png', data: PNG_2_BY_3 } }];
  assert.match(await nativeText({ contents: [{ parts }] }), /^I was given a PNG image file of 2 × 3 pixels/);
});

test('streams native frames with a running total and no other end than the last frame', async () => {
  const request = nativeRequest(contents('repeat: one two'), 'streamGenerateContent');
  const { contentType, frames } = await nativeWork(new FailureCounts()).stream(request, upstream());
  const { taken: all, error } = await taken(frames);
  assert.equal(contentType, 'text/event-stream');
  assert.equal(error, undefined);
  assert.deepEqual(
    all.map((frame) => frame.bytes.toString()),
    all.map((frame) => `data: ${frame.data}\r\n\r\n`),
  );
  const parsed = all.map((frame) => JSON.parse(frame.data));
  assert.deepEqual(
    parsed.map(({ candidates: [{ content, finishReason }] }) => [content.parts[0].text, finishReason]),
    [
      ['one', undefined],
      [' two', 'STOP'],
    ],
  );
  assert.deepEqual(
    all.map((frame) => frame.usage?.outputTokens),
    [1, 2],
  );
  assert.deepEqual(
    parsed.map(({ usageMetadata }) => usageMetadata.candidatesTokenCount),
    [1, 2],
  );
});

test('cuts a native stream after as many frames as asked', async () => {
  const request = nativeRequest(
    { ...contents('repeat: a b c'), sandbox: { fail_after_frames: 2 } },
    'streamGenerateContent',
  );
  const { frames } = await nativeWork(new FailureCounts()).stream(request, upstream());
  const { taken: all, error } = await taken(frames);
  assert.equal(all.length, 2);
  assert.ok(fault('server')(error));
});

test('counts native tokens and bills none', async () => {
  const whole = contents('what is 12 * 7?');
  for (const body of [whole, { generateContentRequest: whole }]) {
    const answered = await nativeWork(new FailureCounts()).call(nativeRequest(body, 'countTokens'), upstream());
    assert.equal(JSON.parse(answered.body.toString()).totalTokens, 9);
    assert.equal(answered.usage, undefined);
  }
});

const REFUSED_NATIVE: readonly (readonly [what: string, body: object | string, code: string, words: RegExp])[] = [
  ['a body that is no JSON', '{', 'bad_request_body', /JSON/],
  ['a body that is no object', '[]', 'bad_request_body', /JSON object/],
  ['no contents', {}, 'invalid_parameter', /contents/],
  [
    'tools that are no functions',
    { ...contents('x'), tools: [{ googleSearch: {} }] },
    'unsupported_parameter',
    /googleSearch/,
  ],
  [
    'pictures as an answer',
    { ...contents('x'), generationConfig: { responseModalities: ['IMAGE'] } },
    'unsupported_parameter',
    /responseModalities/,
  ],
  ['cached content', { ...contents('x'), cachedContent: 'cachedContents/1' }, 'unsupported_parameter', /cachedContent/],
  [
    'too many candidates',
    { ...contents('x'), generationConfig: { candidateCount: 9 } },
    'invalid_parameter',
    /candidateCount/,
  ],
  ['an unknown fault', { ...contents('x'), sandbox: { fail: 'fire' } }, 'invalid_parameter', /fail/],
];

for (const [what, body, code, words] of REFUSED_NATIVE) {
  test(`refuses ${what} in the native format`, async () => {
    await assert.rejects(native(body), refusal(code, words));
  });
}

// The vendors' own client libraries, so that the shapes are held to their types and readers.

test('is understood by the chat client library, whole and streamed', async (context) => {
  const client = new OpenAI({ baseURL: `${await served(context)}/v1`, apiKey: 'none', maxRetries: 0 });
  const asked = { model: 'sandbox/chat', messages: [{ role: 'user' as const, content: 'what is 12 * 7?' }] };
  const whole = await client.chat.completions.create(asked);
  assert.equal(whole.choices[0]?.message.content, '12 * 7 = 84');
  const streamed = await client.chat.completions.stream(asked).finalContent();
  assert.equal(streamed, '12 * 7 = 84');
  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];
  const messages = [{ role: 'user' as const, content: 'The weather in Paris' }];
  const called = await client.chat.completions.stream({ ...asked, messages, tools }).finalMessage();
  assert.deepEqual(
    called.tool_calls?.map((call) => call.type === 'function' && call.function.arguments),
    ['{"city":"Paris"}'],
  );
});

test('is understood by the native client library, whole and streamed', async (context) => {
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: await served(context) } });
  const asked = { model: 'native', contents: 'what is 12 * 7?' };
  assert.equal((await client.models.generateContent(asked)).text, '12 * 7 = 84');
  const { taken: frames } = await taken(await client.models.generateContentStream(asked));
  assert.equal(frames.map((frame) => frame.text).join(''), '12 * 7 = 84');
  assert.equal(frames.at(-1)?.usageMetadata?.candidatesTokenCount, 5);
  assert.equal((await client.models.countTokens(asked)).totalTokens, 9);
});

/** Both kinds of work on a loopback port, with nothing between them and the wire. */
async function served(context: TestContext): Promise<string> {
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { taken: chunks } = await taken<Buffer>(request);
  const body = Buffer.concat(chunks);
  const action = /:(\w+)/.exec(request.url ?? '')?.[1];
  if (action === undefined) await serveChat(body.toString(), response);
  else await serveNative(nativeRequest(body.toString(), action as NativeAction), response);
  response.end();
}

async function serveChat(body: string, response: ServerResponse): Promise<void> {
  const asked = toRequest(body);
  const work = chatWork(new FailureCounts());
  response.setHeader('content-type', asked.stream ? 'text/event-stream' : 'application/json');
  if (!asked.stream) response.write(JSON.stringify((await work.complete(asked, upstream())).body));
  else
    for await (const chunk of await work.stream(asked, upstream()))
      response.write(`data: ${JSON.stringify(chunk.body)}\n\n`);
}

async function serveNative(request: ReturnType<typeof nativeRequest>, response: ServerResponse): Promise<void> {
  const work = nativeWork(new FailureCounts());
  if (request.action === 'streamGenerateContent') {
    const { contentType, frames } = await work.stream(request, upstream());
    response.setHeader('content-type', contentType);
    for await (const { bytes } of frames) response.write(bytes);
  } else {
    const { contentType, body } = await work.call(request, upstream());
    response.setHeader('content-type', contentType).write(body);
  }
}
