import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, type ErrorCode } from '../../../errors.ts';
import { type JsonObject, parseJson } from '../../../json.ts';
import type { ChatRequest } from '../../../schemas/index.ts';
import { isObject } from '../../kit/json.ts';
import { toWire } from './chat-request.ts';

const HI = { role: 'user', content: 'Hi' };
const HI_WIRE = { role: 'user', parts: [{ text: 'Hi' }] };
const PNG = 'data:image/png;base64,iVBORw0KGgo=';

/** What a caller's body becomes on the wire. */
function wireOf(body: JsonObject, model = 'gemini-2.5-flash'): unknown {
  return JSON.parse(wireText(JSON.stringify({ model: 'm', messages: [HI], ...body }), model));
}

function wireText(text: string, model = 'gemini-2.5-flash'): string {
  return JSON.stringify(toWire(requestOf(text), model));
}

function requestOf(text: string): ChatRequest {
  const parsed = parseJson(text);
  const [value, body] = [parsed.value, parsed.exact()];
  assert.ok(isObject(value) && isObject(body) && Array.isArray(value.messages));
  const most = value.max_completion_tokens ?? value.max_tokens;
  return {
    model: 'm',
    stream: false,
    includeUsage: false,
    messages: value.messages,
    tools: Array.isArray(value.tools) ? value.tools : [],
    maxOutputTokens: typeof most === 'number' ? most : undefined,
    n: typeof value.n === 'number' ? value.n : 1,
    body,
  };
}

const REQUESTS: readonly (readonly [name: string, body: JsonObject, wire: object])[] = [
  ['a plain text', {}, { contents: [HI_WIRE], generationConfig: {} }],
  [
    'every word of the system, wherever it stands',
    {
      messages: [
        { role: 'system', content: 'Be kind.' },
        HI,
        { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'system', content: '' },
      ],
    },
    {
      systemInstruction: { parts: [{ text: 'Be kind.' }, { text: 'Be brief.' }] },
      contents: [HI_WIRE],
      generationConfig: {},
    },
  ],
  [
    'the assistant as the model, and without turns that say nothing',
    { messages: [HI, { role: 'assistant', content: 'Yes?' }, { role: 'assistant', content: null }, HI] },
    { contents: [HI_WIRE, { role: 'model', parts: [{ text: 'Yes?' }] }, HI_WIRE], generationConfig: {} },
  ],
  [
    'a refusal as what the model said',
    { messages: [HI, { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }, HI] },
    { contents: [HI_WIRE, { role: 'model', parts: [{ text: 'No.' }] }, HI_WIRE], generationConfig: {} },
  ],
  [
    'pictures, sound and files inline',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What?' },
            { type: 'image_url', image_url: { url: PNG, detail: 'low' } },
            { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
          ],
        },
      ],
    },
    {
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'What?' },
            { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
            { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
            { inlineData: { mimeType: 'application/pdf', data: 'JVBERg==' } },
          ],
        },
      ],
      generationConfig: {},
    },
  ],
  [
    'every number and word that steers the answer',
    {
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      presence_penalty: 1,
      frequency_penalty: -1,
      seed: 7,
      n: 2,
      max_completion_tokens: 100,
      max_tokens: 50,
      stop: ['a', 'b'],
      reasoning_effort: 'low',
    },
    {
      contents: [HI_WIRE],
      generationConfig: {
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        presencePenalty: 1,
        frequencyPenalty: -1,
        seed: 7,
        candidateCount: 2,
        maxOutputTokens: 100,
        stopSequences: ['a', 'b'],
        thinkingConfig: { thinkingLevel: 'LOW' },
      },
    },
  ],
  ['one stop text', { stop: 'end' }, { contents: [HI_WIRE], generationConfig: { stopSequences: ['end'] } }],
  [
    'no thinking at all',
    { reasoning_effort: 'none' },
    { contents: [HI_WIRE], generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
  ],
  [
    'any JSON object',
    { response_format: { type: 'json_object' } },
    { contents: [HI_WIRE], generationConfig: { responseMimeType: 'application/json' } },
  ],
  [
    'JSON of a schema',
    { response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema: { type: 'object' } } } },
    {
      contents: [HI_WIRE],
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } },
    },
  ],
  [
    'nothing for null and for values that ask for nothing',
    {
      temperature: null,
      stop: null,
      tools: null,
      tool_choice: null,
      response_format: { type: 'text' },
      logprobs: false,
      logit_bias: {},
      modalities: ['text'],
      parallel_tool_calls: true,
      service_tier: 'auto',
      user: 'u',
      metadata: { a: 'b' },
      functions: null,
    },
    { contents: [HI_WIRE], generationConfig: {} },
  ],
];

for (const [name, body, wire] of REQUESTS) {
  test(`a chat request asks for ${name}`, () => {
    assert.deepEqual(wireOf(body), wire);
  });
}

const WEATHER = { type: 'object', properties: { city: { type: 'string' } } };
const TOOLS = [{ type: 'function', function: { name: 'weather', description: 'Tells it.', parameters: WEATHER } }];

test('a chat request declares its functions with their own schemas', () => {
  const declared = [{ name: 'weather', description: 'Tells it.', parametersJsonSchema: WEATHER }, { name: 'now' }];
  const tools = [...TOOLS, { type: 'function', function: { name: 'now', strict: true } }];
  assert.deepEqual(wireOf({ tools }), {
    contents: [HI_WIRE],
    tools: [{ functionDeclarations: declared }],
    generationConfig: {},
  });
});

const CHOICES: readonly (readonly [choice: JsonObject[string], calling: object])[] = [
  ['none', { mode: 'NONE' }],
  ['auto', { mode: 'AUTO' }],
  ['required', { mode: 'ANY' }],
  [
    { type: 'function', function: { name: 'weather' } },
    { mode: 'ANY', allowedFunctionNames: ['weather'] },
  ],
];

for (const [choice, functionCallingConfig] of CHOICES) {
  test(`the tool choice ${JSON.stringify(choice)} becomes the mode ${JSON.stringify(functionCallingConfig)}`, () => {
    const wire = wireOf({ tools: TOOLS, tool_choice: choice });
    assert.ok(isObject(wire));
    assert.deepEqual(wire.toolConfig, { functionCallingConfig });
  });
}

const called = (id: string, extra: JsonObject = {}): JsonObject => ({
  id,
  type: 'function',
  function: { name: `name-${id}`, arguments: '{"city":"Bern"}' },
  ...extra,
});
const call = (id: string) => ({ functionCall: { id, name: `name-${id}`, args: { city: 'Bern' } } });
const response = (id: string) => ({ functionResponse: { id, name: `name-${id}`, response: { output: 'Sunny' } } });
const answered = (id: string): JsonObject => ({ role: 'tool', tool_call_id: id, content: 'Sunny' });

test('answers to calls made together are one turn, each under the name of its call', () => {
  const asked = { role: 'assistant', content: 'Let me see.', tool_calls: [called('a'), called('b')] };
  const messages = [HI, asked, answered('b'), answered('a'), HI];
  assert.deepEqual(wireOf({ messages }), {
    contents: [
      HI_WIRE,
      { role: 'model', parts: [{ text: 'Let me see.' }, call('a'), call('b')] },
      { role: 'user', parts: [response('b'), response('a')] },
      HI_WIRE,
    ],
    generationConfig: {},
  });
});

test('the signature of a call goes back with the call', () => {
  const asked = [called('a', { extra_content: { thought_signature: 'c2ln' } }), called('b')];
  const messages = [HI, { role: 'assistant', content: null, tool_calls: asked }, answered('a'), answered('b')];
  const wire = wireOf({ messages }, 'gemini-3.8-flash');
  assert.ok(isObject(wire) && Array.isArray(wire.contents));
  assert.deepEqual(wire.contents[1], {
    role: 'model',
    parts: [{ ...call('a'), thoughtSignature: 'c2ln' }, call('b')],
  });
});

test('calls without a signature get the vendor’s own word for that from its third generation on', () => {
  const asked = { role: 'assistant', tool_calls: [called('a'), called('b')] };
  const wire = wireOf({ messages: [HI, asked, answered('a'), answered('b')] }, 'gemini-3.8-flash');
  assert.ok(isObject(wire) && Array.isArray(wire.contents));
  assert.deepEqual(wire.contents[1], {
    role: 'model',
    parts: [{ ...call('a'), thoughtSignature: 'skip_thought_signature_validator' }, call('b')],
  });
});

test('numbers that a double cannot hold go out as they were written', () => {
  const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"id":12345678901234567890}' } }];
  const messages = [HI, { role: 'assistant', tool_calls: calls }, answered('a')];
  const tools = '[{"type":"function","function":{"name":"f","parameters":{"maximum":9007199254740993}}}]';
  const text = wireText(`{"model":"m","temperature":1.0,"tools":${tools},"messages":${JSON.stringify(messages)}}`);
  for (const number of ['"temperature":1.0', '"maximum":9007199254740993', '"id":12345678901234567890']) {
    assert.ok(text.includes(number), `${number} in ${text}`);
  }
});

const picture = (url: string) => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
});
const turn = (message: JsonObject) => ({ messages: [HI, message] });
const REFUSED: readonly (readonly [code: ErrorCode, field: string, body: JsonObject])[] = [
  ['unsupported_parameter', 'logprobs', { logprobs: true }],
  ['unsupported_parameter', 'logit_bias', { logit_bias: { 5: 1 } }],
  ['unsupported_parameter', 'parallel_tool_calls', { parallel_tool_calls: false }],
  ['unsupported_parameter', 'modalities', { modalities: ['text', 'audio'] }],
  ['unsupported_parameter', 'service_tier', { service_tier: 'priority' }],
  ['unsupported_parameter', 'cachedContent', { cachedContent: 'cachedContents/1' }],
  ['unsupported_parameter', 'reasoning_effort', { reasoning_effort: 'xhigh' }],
  ['unsupported_parameter', 'response_format', { response_format: { type: 'grammar' } }],
  ['invalid_parameter', 'json_schema', { response_format: { type: 'json_schema' } }],
  ['unsupported_parameter', 'tool_choice', { tool_choice: { type: 'allowed_tools' } }],
  ['unsupported_parameter', 'tools[0]', { tools: [{ type: 'custom', custom: { name: 'x' } }] }],
  ['invalid_parameter', 'tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
  ['unsupported_parameter', 'messages[0].content[0]', picture('https://example.com/a.png')],
  ['unsupported_parameter', 'messages[0].content[0]', picture('data:image/svg+xml,<svg/>')],
  ['unsupported_parameter', 'messages[1].content[0]', turn({ role: 'user', content: [{ type: 'video' }] })],
  ['unsupported_parameter', 'file_data', turn({ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] })],
  ['unsupported_parameter', 'messages[1]', turn({ role: 'function', content: 'x' })],
  ['unsupported_parameter', 'function_call', turn({ role: 'assistant', function_call: { name: 'f' } })],
  ['invalid_parameter', 'messages[1].content', turn({ role: 'user' })],
  ['invalid_parameter', 'messages[1].tool_call_id', turn(answered('unknown'))],
  [
    'invalid_parameter',
    'arguments',
    turn({ role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{' } }] }),
  ],
  ['invalid_parameter', 'messages', { messages: [{ role: 'system', content: 'Be kind.' }] }],
];

for (const [code, field, body] of REFUSED) {
  test(`a chat request is refused with ${code} for ${field}: ${JSON.stringify(body)}`, () => {
    assert.throws(
      () => wireOf(body),
      (error) => error instanceof ApiError && error.code === code && error.message.includes(field),
    );
  });
}
