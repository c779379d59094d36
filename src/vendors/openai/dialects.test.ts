import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { toCall } from '../formats/chat-completions/request.ts';
import { DIALECTS } from '../formats/chat-completions/terms.ts';
import { chat, collect, HELLO, isFault, KEY, requestOf, withEmulator } from './emulator/calls.ts';
import { COMPATIBLE } from './emulator.ts';

/** Of a call at the dialect's own address, all that is not the same for every dialect. */
async function wireOf(speaks: string, fields: JsonObject): Promise<JsonObject> {
  let sent: JsonObject = {};
  await withEmulator({ speaks, apiKey: KEY }, async (emulator, upstream) => {
    await collect(await chat.stream(requestOf({ ...fields, stream: true }), upstream));
    const {
      model: _model,
      stream: _stream,
      messages,
      ...others
    } = JSON.parse(emulator.requests[0]?.bytes.toString() ?? '');
    sent = fields.messages === undefined ? others : { ...others, messages };
  });
  return sent;
}

const LIMIT = { max_completion_tokens: 20 };
const NO_PROBABILITIES = { logprobs: false, top_logprobs: 0, logit_bias: {} };
const USAGE_OPTION = { stream_options: { include_usage: true } };
const tool = (name: string) => ({ type: 'function', function: { name } });
const TOOLS = [tool('weather'), tool('time')];
const NAMED = { type: 'function', function: { name: 'time' } };
const ANSWERED = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'user', content: 'Hello', name: 'ann' },
  { role: 'assistant', content: 'Hi.', refusal: null, annotations: [] },
  ...HELLO,
];
const PLAIN_ANSWERED = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hello' },
  { role: 'assistant', content: 'Hi.' },
  ...HELLO,
];

/** What a caller sends in the author's words, and what the server is sent: its emulator refuses anything else. */
const WIRES: Readonly<Record<string, readonly (readonly [sent: JsonObject, wire: JsonObject])[]>> = {
  mistral: [
    [
      { ...LIMIT, ...NO_PROBABILITIES, seed: 7, user: 'u', store: false, verbosity: 'low', modalities: ['text'] },
      { max_tokens: 20, random_seed: 7 },
    ],
    [
      { tools: TOOLS, tool_choice: 'required' },
      { tools: TOOLS, tool_choice: 'required' },
    ],
    [{ messages: ANSWERED }, { messages: PLAIN_ANSWERED }],
  ],
  deepseek: [
    [
      { ...LIMIT, n: 1, logprobs: true },
      { max_tokens: 20, n: 1, logprobs: true, ...USAGE_OPTION },
    ],
    [{ response_format: { type: 'json_object' } }, { response_format: { type: 'json_object' }, ...USAGE_OPTION }],
  ],
  together: [
    [
      { ...LIMIT, stop: 'END', n: 2, logprobs: false },
      { max_tokens: 20, stop: ['END'], n: 2, ...USAGE_OPTION },
    ],
    [{ stop: ['A', 'B'] }, { stop: ['A', 'B'], ...USAGE_OPTION }],
  ],
  openrouter: [
    [
      { ...LIMIT, n: 2, logprobs: true, provider: { sort: 'price' } },
      { ...LIMIT, n: 2, logprobs: true, provider: { sort: 'price' }, ...USAGE_OPTION },
    ],
  ],
  groq: [
    [
      { ...LIMIT, ...NO_PROBABILITIES, n: 1, service_tier: 'default' },
      { ...LIMIT, n: 1, service_tier: 'on_demand', ...USAGE_OPTION },
    ],
    [{ messages: ANSWERED }, { messages: PLAIN_ANSWERED, ...USAGE_OPTION }],
  ],
  xai: [
    [
      { ...LIMIT, n: 2, logprobs: true, logit_bias: {} },
      { ...LIMIT, n: 2, logprobs: true, ...USAGE_OPTION },
    ],
  ],
  fireworks: [
    [
      { ...LIMIT, n: 2, logprobs: true },
      { max_tokens: 20, n: 2, logprobs: true, ...USAGE_OPTION },
    ],
  ],
  dashscope: [
    [
      { ...LIMIT, logprobs: true, enable_thinking: false },
      { max_tokens: 20, logprobs: true, enable_thinking: false, ...USAGE_OPTION },
    ],
  ],
  vllm: [
    [
      { ...LIMIT, n: 2, logit_bias: { 5: 1 }, top_k: 3 },
      { max_tokens: 20, n: 2, logit_bias: { 5: 1 }, top_k: 3, ...USAGE_OPTION },
    ],
    [
      { tools: TOOLS, tool_choice: NAMED },
      { tools: TOOLS, tool_choice: NAMED, ...USAGE_OPTION },
    ],
  ],
  ollama: [
    [
      { ...LIMIT, seed: 7, logprobs: true },
      { max_tokens: 20, seed: 7, logprobs: true, ...USAGE_OPTION },
    ],
    [
      { tools: TOOLS, tool_choice: 'auto' },
      { tools: TOOLS, ...USAGE_OPTION },
    ],
    [{ tools: TOOLS, tool_choice: 'none' }, { ...USAGE_OPTION }],
  ],
  'llama.cpp': [
    [
      { ...LIMIT, logit_bias: { 5: 1 } },
      { max_tokens: 20, logit_bias: { 5: 1 }, ...USAGE_OPTION },
    ],
    [
      { tools: TOOLS, tool_choice: 'none' },
      { tools: TOOLS, tool_choice: 'none', ...USAGE_OPTION },
    ],
    [
      { tools: TOOLS, tool_choice: NAMED },
      { tools: [tool('time')], tool_choice: 'required', ...USAGE_OPTION },
    ],
  ],
  'lm-studio': [
    [
      { ...LIMIT, seed: 7, n: 1, top_logprobs: 0 },
      { max_tokens: 20, seed: 7, n: 1, ...USAGE_OPTION },
    ],
    [
      { tools: TOOLS, tool_choice: NAMED },
      { tools: [tool('time')], tool_choice: 'required', ...USAGE_OPTION },
    ],
  ],
};

const SCHEMA = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } };

/** What a server refuses, or would overlook, is refused before it is asked. */
const REFUSED: Readonly<Record<string, readonly JsonObject[]>> = {
  mistral: [
    { logprobs: true },
    { top_logprobs: 2 },
    { logit_bias: { 5: 1 } },
    { audio: {} },
    { web_search_options: {} },
  ],
  deepseek: [{ n: 2 }, { logit_bias: { 5: 1 } }, { response_format: SCHEMA }],
  together: [{ logprobs: true }, { top_logprobs: 2 }],
  openrouter: [],
  groq: [{ n: 2 }, { logprobs: true }, { top_logprobs: 1 }, { logit_bias: { 5: 1 } }, { service_tier: 'priority' }],
  xai: [{ logit_bias: { 5: 1 } }],
  fireworks: [],
  dashscope: [],
  vllm: [],
  ollama: [{ n: 2 }, { logit_bias: { 5: 1 } }, { tool_choice: 'required' }, { tool_choice: NAMED }],
  'llama.cpp': [],
  'lm-studio': [{ n: 2 }, { logprobs: true }, { response_format: { type: 'json_object' } }],
};

/** Refusals as each server words them, by status, and what they mean. */
const FAULTS: Readonly<Record<string, readonly (readonly [status: number, body: JsonObject, fault: Fault])[]>> = {
  mistral: [
    [401, { detail: 'Unauthorized' }, 'account'],
    [400, { object: 'error', message: 'Invalid model: x', type: 'invalid_model', code: '1500' }, 'config'],
    [
      422,
      { detail: [{ type: 'extra_forbidden', loc: ['body', 'x'], msg: 'Extra inputs are not permitted' }] },
      'client',
    ],
    [429, { object: 'error', message: 'Requests rate limit exceeded', type: 'rate_limited', code: '1300' }, 'rate'],
  ],
  deepseek: [
    [
      402,
      { error: { message: 'Insufficient Balance', type: 'unknown_error', code: 'invalid_request_error' } },
      'account',
    ],
    [
      400,
      { error: { message: "This model's maximum context length is 65536 tokens.", code: 'invalid_request_error' } },
      'client',
    ],
    [503, { error: { message: 'Service is too busy.' } }, 'server'],
  ],
  together: [
    [402, { error: { message: 'Credit limit exceeded', type: 'credit_limit', code: null } }, 'account'],
    [
      422,
      { error: { message: 'Input validation error: inputs tokens + max_new_tokens', type: 'invalid_request_error' } },
      'client',
    ],
    [429, { error: { message: 'Too many requests', type: 'rate_limit', code: 'dynamic_request_limited' } }, 'rate'],
  ],
  openrouter: [
    [402, { error: { code: 402, message: 'Insufficient credits' } }, 'account'],
    [200, { error: { code: 402, message: 'Insufficient credits' } }, 'account'],
    [403, { error: { code: 403, message: 'Flagged', metadata: { reasons: ['x'], flagged_input: 'y' } } }, 'policy'],
    [403, { error: { code: 403, message: 'Key limit exceeded' } }, 'account'],
    [400, { error: { code: 400, message: 'x', metadata: { error_type: 'context_length_exceeded' } } }, 'client'],
    [200, { error: { code: 502, message: 'x', metadata: { error_type: 'provider_unavailable' } } }, 'server'],
  ],
  groq: [
    [400, { error: { message: 'Blocked.', type: 'invalid_request_error', code: 'blocked_api_access' } }, 'account'],
    [
      400,
      { error: { message: 'Restricted.', type: 'invalid_request_error', code: 'organization_restricted' } },
      'account',
    ],
    [
      400,
      { error: { message: 'x', type: 'invalid_request_error', code: 'tool_use_failed', failed_generation: 'y' } },
      'unfit',
    ],
    [400, { error: { message: 'x', type: 'invalid_request_error', code: 'context_length_exceeded' } }, 'client'],
    [429, { error: { message: 'Rate limit reached', type: 'tokens', code: 'rate_limit_exceeded' } }, 'rate'],
    [498, { error: { message: 'Flex tier capacity exceeded' } }, 'rate'],
  ],
  xai: [
    [400, { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***' }, 'account'],
    [400, { code: 'Client specified an invalid argument', error: 'Bad field "Incorrect API key provided"' }, 'client'],
    [
      429,
      { code: 'x', error: 'Your team t has either used all available credits or reached its monthly spending limit.' },
      'account',
    ],
    [429, { code: 'x', error: 'Too many requests for team t.' }, 'rate'],
    [403, { code: 'x', error: 'Content violates usage guidelines. Failed check: SAFETY' }, 'policy'],
    [403, { code: 'x', error: 'Your team is blocked.' }, 'account'],
  ],
  fireworks: [
    [
      412,
      { error: { message: 'Account a is suspended, possibly due to reaching the monthly spending limit', code: 'x' } },
      'account',
    ],
    [400, { error: 'The prompt is too long' }, 'client'],
    [404, { error: { message: 'Model not found', code: 'NOT_FOUND' } }, 'config'],
  ],
  dashscope: [
    [400, { error: { message: 'Access denied.', type: 'Arrearage', code: 'Arrearage' } }, 'account'],
    [403, { error: { message: 'x', type: 'x', code: 'AllocationQuota.FreeTierOnly' } }, 'account'],
    [401, { error: { message: 'x', type: 'invalid_request_error', code: 'invalid_api_key' } }, 'account'],
    [400, { error: { message: 'x', type: 'data_inspection_failed', code: 'data_inspection_failed' } }, 'policy'],
    [400, { error: { message: 'x', type: 'x', code: 'invalid_parameter_error' } }, 'client'],
    [429, { error: { message: 'x', type: 'limit_requests', code: 'limit_requests' } }, 'rate'],
  ],
  vllm: [
    [
      400,
      { error: { message: "This model's maximum context length is 8192", type: 'BadRequestError', code: 400 } },
      'client',
    ],
    [404, { object: 'error', message: 'The model x does not exist.', type: 'NotFoundError', code: 404 }, 'config'],
  ],
  ollama: [
    [404, { error: { message: 'model "x" not found, try pulling it first', type: 'api_error' } }, 'config'],
    [503, { error: { message: 'server busy, maximum pending requests exceeded', type: 'api_error' } }, 'server'],
  ],
  'llama.cpp': [
    [
      400,
      { error: { code: 400, message: 'exceeds the context size', type: 'exceed_context_size_error', n_ctx: 4096 } },
      'client',
    ],
    [501, { error: { code: 501, message: 'Start it with --embeddings', type: 'not_supported_error' } }, 'config'],
    [503, { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } }, 'server'],
  ],
  'lm-studio': [
    [400, { error: 'Trying to keep the first 9000 tokens when context overflows.' }, 'client'],
    [
      404,
      { error: { message: 'No models loaded.', type: 'invalid_request_error', code: 'model_not_found' } },
      'config',
    ],
  ],
};

test('every server of the emulator has its rows here', () => {
  for (const rows of [WIRES, REFUSED, FAULTS])
    assert.deepEqual(Object.keys(rows).sort(), Object.keys(COMPATIBLE).sort());
});

test('docs/dialects.md has every dialect, with its hosts', () => {
  const rows = readFileSync('docs/dialects.md', 'utf8').matchAll(/^\| `([\w.-]+)` \| ([^|]*) ?\|/gm);
  const told = [...rows].map(([, name, hosts = '']) => [
    name,
    hosts
      .split(', ')
      .map((host) => host.trim())
      .join(),
  ]);
  assert.deepEqual(
    told,
    Object.entries(DIALECTS).map(([name, hosts]) => [name, hosts.join()]),
  );
});

for (const dialect of Object.keys(COMPATIBLE)) {
  describe(dialect, () => {
    for (const [sent, wire] of WIRES[dialect] ?? []) {
      test(`is sent ${JSON.stringify(sent).slice(0, 90)} in its own words`, async () =>
        assert.deepEqual(await wireOf(dialect, sent), wire));
    }

    for (const fields of REFUSED[dialect] ?? []) {
      test(`cannot be told ${JSON.stringify(fields)}`, () =>
        withEmulator({ speaks: dialect }, async (emulator, upstream) => {
          const [param] = Object.keys(fields);
          const refusal = { code: 'unsupported_parameter', param };
          assert.throws(() => toCall({ ...requestOf(fields), n: Number(fields.n ?? 1) }, upstream), refusal);
          await assert.rejects(chat.complete({ ...requestOf(fields), n: Number(fields.n ?? 1) }, upstream), refusal);
          assert.equal(emulator.requests.length, 0);
        }));
    }

    for (const [status, body, fault] of FAULTS[dialect] ?? []) {
      test(`${status} ${JSON.stringify(body).slice(0, 80)} is ${fault}`, () =>
        withEmulator({ speaks: dialect }, async (emulator, upstream) => {
          const script = { kind: 'raw', status, body: JSON.stringify(body) } as const;
          emulator.script(script, script);
          await assert.rejects(chat.complete(requestOf(), upstream), isFault(fault));
          await assert.rejects(chat.stream(requestOf({ stream: true }), upstream), isFault(fault));
        }));
    }
  });
}
