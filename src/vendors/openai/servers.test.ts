import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../../json.ts';
import {
  CONTENT,
  chat,
  collect,
  type Delta,
  HELLO,
  isFault,
  KEY,
  lastUsage,
  MARKER,
  outcome,
  requestOf,
  TOOL_CALLS,
  together,
  USAGE,
  withEmulator,
} from './emulator/calls.ts';
import { COMPATIBLE, type Script } from './emulator.ts';

describe('servers that only speak the format', () => {
  const answer: Script = { kind: 'answer', text: 'Good day.', reasoning: 'Let me think.', usage: USAGE };
  const asked: JsonObject = {
    messages: [{ role: 'developer', content: 'Be brief.' }, ...HELLO],
    max_completion_tokens: 20,
    seed: 7,
  };
  for (const speaks of Object.keys(COMPATIBLE)) {
    test(`${speaks} answers and streams the same thing, with usage, and does not show itself`, () =>
      withEmulator({ speaks, apiKey: KEY }, async (emulator, upstream) => {
        emulator.script(answer, answer);
        const whole = await chat.complete(requestOf(asked), upstream);
        const chunks = await collect(await chat.stream(requestOf({ ...asked, stream: true }), upstream));
        const [choice] = whole.body.choices as unknown as [{ message: Delta; finish_reason: string }];
        const { content, reasoning_content } = choice.message;
        assert.deepEqual([content, reasoning_content, choice.finish_reason], ['Good day.', 'Let me think.', 'stop']);
        const said = { text: 'Good day.', reasoning: 'Let me think.', toolCalls: [], finishReason: 'stop' };
        assert.deepEqual(together(chunks), said);
        assert.deepEqual(whole.usage, { inputTokens: 40, cachedTokens: 60, outputTokens: 30, reasoningTokens: 20 });
        assert.deepEqual(lastUsage(chunks), [40, 60, 30, 20]);
        assert.doesNotMatch(JSON.stringify([whole, chunks]), new RegExp(`${MARKER}|Somebody|groq`));
      }));
  }

  for (const speaks of Object.keys(COMPATIBLE)) {
    test(`${speaks} calls two tools in a stream`, () =>
      withEmulator({ speaks }, async (emulator, upstream) => {
        emulator.script({ kind: 'answer', toolCalls: TOOL_CALLS, usage: USAGE });
        const chunks = await collect(await chat.stream(requestOf({ stream: true }), upstream));
        assert.deepEqual(together(chunks).toolCalls, TOOL_CALLS);
        assert.deepEqual(lastUsage(chunks), [40, 60, 30, 20]);
      }));

    test(`${speaks} refuses in its own shape`, () =>
      withEmulator({ speaks }, async (emulator, upstream) => {
        emulator.script({ kind: 'error', error: 'throttled' }, { kind: 'error', error: 'throttled' });
        await assert.rejects(chat.complete(requestOf(), upstream), isFault('rate'));
        await assert.rejects(chat.stream(requestOf({ stream: true }), upstream), isFault('rate'));
      }));
  }

  test('one that counts reasoning beside the completion is charged for both', () =>
    withEmulator({ speaks: 'xai' }, async (emulator, upstream) => {
      emulator.script({ kind: 'answer', usage: { ...USAGE, total_tokens: 170 } });
      const chunks = await collect(await chat.stream(requestOf({ stream: true }), upstream));
      assert.deepEqual(lastUsage(chunks), [40, 60, 50, 20]);
    }));

  test('one that stops early says so', async () => {
    const frames = [CONTENT, { choices: [], x_groq: { error: 'over capacity' } }];
    assert.deepEqual(await outcome({ kind: 'frames', frames }, { speaks: 'groq' }), { count: 1, fault: 'server' });
  });
});
