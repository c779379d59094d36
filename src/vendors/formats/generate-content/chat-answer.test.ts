import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fault, UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import type { ChatChunk } from '../../vendor.ts';
import { toAnswer, toChunks } from './chat-answer.ts';
import { usageOf } from './wire.ts';

const candidate = (parts: JsonObject[], finishReason?: string, index = 0): JsonObject => ({
  content: { role: 'model', parts },
  ...(finishReason === undefined ? {} : { finishReason }),
  ...(index === 0 ? {} : { index }),
});

test('an answer joins what was said and leaves out what was thought', () => {
  const parts = [{ text: 'Hmm', thought: true }, { text: 'Good ' }, { text: 'day', thoughtSignature: 'c2ln' }];
  const { body } = toAnswer({ candidates: [candidate(parts, 'STOP')] });
  const message = { role: 'assistant', content: 'Good day', refusal: null };
  assert.deepEqual(body, {
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
  });
});

test('an answer keeps each candidate under its own number', () => {
  const { body } = toAnswer({
    candidates: [candidate([{ text: 'A' }], 'STOP'), candidate([{ text: 'B' }], 'STOP', 1)],
  });
  assert.ok(Array.isArray(body.choices));
  assert.deepEqual(
    body.choices.map((choice) => [choice.index, choice.message.content]),
    [
      [0, 'A'],
      [1, 'B'],
    ],
  );
});

test('calls become tool calls with their signature, and get an id where the upstream gave none', () => {
  const parts = [
    { functionCall: { id: 'x1', name: 'weather', args: { city: 'Bern' } }, thoughtSignature: 'c2ln' },
    { functionCall: { name: 'now' } },
  ];
  const { body } = toAnswer({ candidates: [candidate(parts, 'STOP')] });
  assert.ok(Array.isArray(body.choices));
  const [{ message, finish_reason: finish }] = body.choices;
  assert.equal(finish, 'tool_calls');
  assert.equal(message.content, null);
  const [first, second] = message.tool_calls;
  const weather = { name: 'weather', arguments: '{"city":"Bern"}' };
  const extra = { extra_content: { thought_signature: 'c2ln' } };
  assert.deepEqual(first, { id: 'x1', type: 'function', function: weather, ...extra });
  assert.match(second.id, /^call_[0-9A-Za-z]{24}$/);
  assert.deepEqual(second, { id: second.id, type: 'function', function: { name: 'now', arguments: '{}' } });
});

const FINISHES: readonly (readonly [reason: string, finish: string])[] = [
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
  ...['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'].map(
    (reason) => [reason, 'content_filter'] as const,
  ),
  ...['IMAGE_SAFETY', 'IMAGE_RECITATION', 'IMAGE_OTHER'].map((reason) => [reason, 'content_filter'] as const),
  ...['LANGUAGE', 'OTHER', 'MALFORMED_FUNCTION_CALL', 'NO_IMAGE', 'NEVER_SEEN'].map(
    (reason) => [reason, 'stop'] as const,
  ),
];

for (const [reason, finish] of FINISHES) {
  test(`an answer that ended with ${reason} ends with ${finish}`, () => {
    const { body } = toAnswer({ candidates: [{ finishReason: reason }] });
    const message = { role: 'assistant', content: '', refusal: null };
    assert.deepEqual(body.choices, [{ index: 0, message, logprobs: null, finish_reason: finish }]);
  });
}

const BAD_ANSWERS: readonly (readonly [name: string, fault: Fault, answer: JsonObject])[] = [
  [
    'blocks the prompt',
    'policy',
    { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4 } },
  ],
  ['blocks the prompt without a reason', 'policy', { promptFeedback: {} }],
  ['has no candidates', 'garbled', { usageMetadata: {} }],
  ['has a candidate of another shape', 'garbled', { candidates: ['text'] }],
  ['has a call without a name', 'garbled', { candidates: [candidate([{ functionCall: {} }], 'STOP')] }],
];

for (const [name, fault, answer] of BAD_ANSWERS) {
  test(`an answer that ${name} is a fault of class ${fault}`, () => {
    assert.throws(
      () => toAnswer(answer),
      (error) => error instanceof UpstreamError && error.fault === fault,
    );
  });
}

const USAGES: readonly (readonly [usage: JsonObject, tokens: readonly number[]])[] = [
  [{ promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }, [10, 0, 5, 0]],
  [
    { promptTokenCount: 100, cachedContentTokenCount: 60, candidatesTokenCount: 5, thoughtsTokenCount: 20 },
    [40, 60, 5, 20],
  ],
  [{ promptTokenCount: 10, toolUsePromptTokenCount: 30, cachedContentTokenCount: 15 }, [25, 15, 0, 0]],
  [{ promptTokenCount: 10, cachedContentTokenCount: 15 }, [0, 15, 0, 0]],
];

for (const [usageMetadata, [inputTokens, cachedTokens, outputTokens, reasoningTokens]] of USAGES) {
  test(`usage counts each token once: ${JSON.stringify(usageMetadata)}`, () => {
    assert.deepEqual(usageOf({ usageMetadata }), { inputTokens, cachedTokens, outputTokens, reasoningTokens });
  });
}

for (const count of ['10', -5, 1.5, 1e300]) {
  test(`usage with ${count} for a count tells none`, () => {
    assert.equal(usageOf({ usageMetadata: { promptTokenCount: 10, candidatesTokenCount: count } }), undefined);
  });
}

test('an answer without usage tells none', () => {
  assert.equal(usageOf({ candidates: [] }), undefined);
});

async function chunksOf(...bodies: JsonObject[]): Promise<ChatChunk[]> {
  async function* frames() {
    for (const body of bodies) yield { bytes: Buffer.alloc(0), data: '', body };
  }
  return Array.fromAsync(toChunks(frames()));
}

test('a stream names its role once, numbers its calls through, and tells the running usage', async () => {
  const chunks = await chunksOf(
    { candidates: [candidate([{ text: 'Wait' }])], usageMetadata: { promptTokenCount: 3 } },
    { candidates: [candidate([{ text: 'thinking', thought: true }])] },
    { candidates: [candidate([{ functionCall: { id: 'a', name: 'f', args: {} } }])] },
    { candidates: [candidate([{ functionCall: { id: 'b', name: 'g', args: { x: 1 } } }])] },
    { candidates: [candidate([], 'STOP')], usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 9 } },
  );
  const choice = (delta: JsonObject, finish: string | null = null) => [
    { index: 0, delta, logprobs: null, finish_reason: finish },
  ];
  const toolCall = (index: number, id: string, name: string, text: string) => ({
    tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }],
  });
  assert.deepEqual(
    chunks.map(({ body }) => body?.choices),
    [
      choice({ role: 'assistant', content: 'Wait' }),
      undefined,
      choice(toolCall(0, 'a', 'f', '{}')),
      choice(toolCall(1, 'b', 'g', '{"x":1}')),
      choice({}, 'tool_calls'),
    ],
  );
  assert.deepEqual(
    chunks.map(({ usage }) => usage?.outputTokens),
    [0, undefined, undefined, undefined, 9],
  );
});

test('a stream of two candidates keeps them apart', async () => {
  const chunks = await chunksOf(
    { candidates: [candidate([{ text: 'A' }]), candidate([{ functionCall: { id: 'a', name: 'f' } }], 'STOP', 1)] },
    { candidates: [candidate([], 'STOP')] },
  );
  const finishes = chunks.flatMap(({ body }) => {
    assert.ok(Array.isArray(body?.choices));
    return body.choices.map((choice) => [choice.index, choice.finish_reason]);
  });
  assert.deepEqual(finishes, [
    [0, null],
    [1, 'tool_calls'],
    [0, 'stop'],
  ]);
});

test('a stream whose prompt is blocked is a fault of policy', async () => {
  await assert.rejects(
    chunksOf({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }),
    (error) => error instanceof UpstreamError && error.fault === 'policy',
  );
});
