import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fault, UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import { Choices, toBody, toChoice } from './choices.ts';
import { usageIn } from './usage.ts';
import { wire } from './wire.ts';

const USAGES: readonly { name: string; body: JsonObject; counts: readonly number[] | undefined }[] = [
  { name: 'no usage', body: {}, counts: undefined },
  { name: 'usage of null', body: { usage: null }, counts: undefined },
  { name: 'usage without numbers', body: { usage: {} }, counts: undefined },
  { name: 'a negative count', body: usage({ prompt_tokens: -1, completion_tokens: 1 }), counts: undefined },
  { name: 'a broken count', body: usage({ prompt_tokens: 1.5, completion_tokens: 1 }), counts: undefined },
  { name: 'a count as text', body: usage({ prompt_tokens: 1, completion_tokens: '1' }), counts: undefined },
  { name: 'plain counts', body: usage({ prompt_tokens: 9, completion_tokens: 3 }), counts: [9, 0, 3, 0] },
  { name: 'no completion yet', body: usage({ prompt_tokens: 9, completion_tokens: null }), counts: [9, 0, 0, 0] },
  {
    name: 'cached and reasoning tokens as parts',
    body: usage({
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 7 },
      completion_tokens_details: { reasoning_tokens: 20 },
    }),
    counts: [40, 60, 30, 20],
  },
  {
    name: 'reasoning that the total counts beside the completion',
    body: usage({
      prompt_tokens: 10,
      completion_tokens: 50,
      total_tokens: 80,
      completion_tokens_details: { reasoning_tokens: 20 },
    }),
    counts: [10, 0, 50, 20],
  },
  {
    name: 'more reasoning than completion',
    body: usage({ prompt_tokens: 1, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 20 } }),
    counts: [1, 0, 5, 20],
  },
  {
    name: 'more cached than prompt tokens',
    body: usage({ prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 20 } }),
    counts: [5, 20, 1, 0],
  },
  {
    name: 'cached tokens under the misspelt name',
    body: usage({ prompt_tokens: 5, completion_tokens: 1, prompt_token_details: { cached_tokens: 2 } }),
    counts: [3, 2, 1, 0],
  },
  {
    name: 'cached tokens as a plain number',
    body: usage({ prompt_tokens: 5, completion_tokens: 1, num_cached_tokens: 2 }),
    counts: [3, 2, 1, 0],
  },
  {
    name: 'cached tokens as hits',
    body: usage({ prompt_tokens: 5, completion_tokens: 1, prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 1 }),
    counts: [1, 4, 1, 0],
  },
  {
    name: 'cached tokens that are no number',
    body: usage({ prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: -3 } }),
    counts: [5, 0, 1, 0],
  },
  {
    name: 'usage in another place',
    body: { x_groq: { usage: { prompt_tokens: 2, completion_tokens: 1 } } },
    counts: [2, 0, 1, 0],
  },
];

function usage(counts: JsonObject): JsonObject {
  return { usage: counts };
}

for (const { name, body, counts } of USAGES) {
  test(`usage is told in disjoint counts: ${name}`, () => {
    const told = usageIn(body);
    const found = told && [told.inputTokens, told.cachedTokens, told.outputTokens, told.reasoningTokens];
    assert.deepEqual(found, counts);
  });
}

const FAULTS: readonly [status: number, body: JsonObject | undefined, fault: Fault][] = [
  [400, { error: { code: 'invalid_value' } }, 'client'],
  [400, { error: { code: 'content_policy_violation' } }, 'policy'],
  [400, { error: { code: 'content_filter' } }, 'policy'],
  [400, { error: { code: 'model_not_found' } }, 'config'],
  [400, { error: 'text' }, 'client'],
  [401, { error: { type: 'invalid_request_error', code: 'invalid_api_key' } }, 'account'],
  [403, { error: { code: 403, metadata: { error_type: 'content_policy_violation' } } }, 'policy'],
  [404, undefined, 'config'],
  [408, undefined, 'timeout'],
  [409, undefined, 'server'],
  [422, { detail: [{ loc: ['body'], msg: 'no', type: 'extra_forbidden' }] }, 'client'],
  [429, { error: { type: 'insufficient_quota', code: 'slow_down' } }, 'rate'],
  [429, { error: { type: 'insufficient_quota', code: 'credit_balance_exhausted' } }, 'account'],
  [429, { error: { type: 'insufficient_quota', code: null } }, 'account'],
  [429, { error: { type: 'insufficient_quota', code: 'server_is_overloaded' } }, 'rate'],
  [429, { error: { type: 'service_unavailable_error', code: 'server_is_overloaded' } }, 'rate'],
  [429, { code: 'credit_balance_exhausted', error: 'text' }, 'account'],
  [429, { error: { code: 'constructor' } }, 'rate'],
  [503, { error: { code: 'server_is_overloaded' } }, 'server'],
];

for (const [status, body, fault] of FAULTS) {
  test(`a refusal ${status} ${JSON.stringify(body)} is read as ${fault}`, () =>
    assert.equal(wire.faults.ofRefusal(status, body), fault));
}

const ERRORS_INSIDE: readonly [body: JsonObject, fault: Fault | undefined][] = [
  [{ error: null, choices: [] }, undefined],
  [{ error: '', choices: [] }, undefined],
  [{ error: 'text' }, 'server'],
  [{ error: { message: 'x' } }, 'server'],
  [{ error: { code: 429, message: 'x' } }, 'rate'],
  [{ error: { code: '402', message: 'x' } }, 'account'],
  [{ error: { code: 502, metadata: { error_type: 'refusal' } } }, 'policy'],
  [{ error: { type: 'invalid_request_error', code: null } }, 'client'],
  [{ code: 'content_policy_violation', error: 'text' }, 'policy'],
  [{ object: 'error', message: 'x', code: 400 }, 'client'],
  [{ x_groq: { error: 'stopped' } }, 'server'],
];

for (const [body, fault] of ERRORS_INSIDE) {
  test(`a success ${JSON.stringify(body)} ${fault === undefined ? 'is one' : `fails as ${fault}`}`, () => {
    const read = () => wire.faults.throwIfError(body);
    if (fault === undefined) assert.doesNotThrow(read);
    else assert.throws(read, (error) => error instanceof UpstreamError && error.fault === fault);
  });
}

test('nothing that names the upstream is left on an answer', () => {
  const from = {
    id: 'chatcmpl-theirs',
    model: 'theirs',
    created: 7,
    system_fingerprint: 'fp_theirs',
    provider: 'theirs',
    obfuscation: 'x',
    x_groq: {},
    service_tier: 'on_demand',
    usage: {},
  };
  const body = { id: '', object: 'chat.completion', created: 7, model: 'public', choices: [] };
  assert.deepEqual(toBody('chat.completion', 'public', from, []), body);
  const tiered = toBody('chat.completion', 'public', { ...from, service_tier: 'flex' }, []);
  assert.deepEqual(tiered, { ...body, service_tier: 'flex' });
});

test('a choice keeps what the model said and loses what the server adds', () => {
  const message = { role: 'assistant', content: 'Hi', refusal: null };
  const choice = { index: 1, message, finish_reason: 'eos', logprobs: null, native_finish_reason: 'theirs' };
  assert.deepEqual(toChoice(choice, 0, wire.faults), { index: 1, message, finish_reason: 'stop', logprobs: null });
});

const VOICES: readonly [name: string, delta: JsonObject, clean: JsonObject][] = [
  ['under its usual name', { reasoning_content: 'Hm' }, { reasoning_content: 'Hm' }],
  ['under its other name', { content: '', reasoning: 'Hm' }, { content: '', reasoning_content: 'Hm' }],
  ['under both names', { reasoning: 'Hm', reasoning_content: 'Hm' }, { reasoning_content: 'Hm' }],
  ['as nothing', { content: 'Hi', reasoning: null }, { content: 'Hi' }],
  [
    'as a part of the content',
    {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
        { type: 'text', text: 'Hi' },
      ],
    },
    { content: 'Hi', reasoning_content: 'Hm' },
  ],
  ['in no part of the content', { content: [{ type: 'text', text: 'Hi' }] }, { content: 'Hi' }],
];

for (const [name, delta, clean] of VOICES) {
  test(`reasoning that comes ${name} has one name`, () => {
    const choice = { index: 0, delta, finish_reason: null };
    assert.deepEqual(new Choices(wire.faults).read(choice, 0), { index: 0, delta: clean, finish_reason: null });
  });
}

test('tool calls without an index are counted, and the pieces behind each belong to it', () => {
  const choices = new Choices(wire.faults);
  const indexes = [[{ id: 'a' }], [{}], [{ id: 'b' }, { id: 'c' }], [{}], [{ index: 7, id: 'd' }], [{ id: 'e' }]].map(
    (tool_calls) => {
      const { delta } = choices.read({ index: 0, delta: { tool_calls } }, 0);
      return (delta as { tool_calls: { index: number }[] }).tool_calls.map(({ index }) => index);
    },
  );
  assert.deepEqual(indexes, [[0], [0], [1, 2], [2], [7], [8]]);
});

test('choices are finished when every one that began has ended', () => {
  const choices = new Choices(wire.faults);
  assert.equal(choices.areFinished, false);
  choices.read({ index: 0, delta: {}, finish_reason: null }, 0);
  choices.read({ index: 1, delta: {}, finish_reason: 'stop' }, 0);
  assert.equal(choices.areFinished, false);
  choices.read({ index: 0, delta: {}, finish_reason: 'model_length' }, 0);
  choices.read({ index: 0, delta: {} }, 0);
  assert.equal(choices.areFinished, true);
});

test('a choice that ends with an error fails as the error says', () => {
  const choice = { index: 0, delta: {}, finish_reason: 'error', error: { code: 429 } };
  assert.throws(() => new Choices(wire.faults).read(choice, 0), { fault: 'rate' });
  assert.throws(() => toChoice({ index: 0, message: {}, finish_reason: 'error' }, 0, wire.faults), { fault: 'server' });
});
