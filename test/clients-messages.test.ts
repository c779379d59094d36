import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { agentRequest } from './support/agent-request.ts';
import { CHAT_SPEAKERS, ClientWorld } from './support/clients.ts';
import type { NewCaller } from './support/gateway.ts';
import { delta, paidCaller, spentInTheEnd } from './support/paid-calls.ts';

// An unmodified client library of the Messages format, told nothing but an address and a key.

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
const TOOL = {
  name: 'weather',
  description: 'Tells the weather.',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};
const client = (apiKey: string, maxRetries = 0) => new Anthropic({ baseURL: world.gateway.url, apiKey, maxRetries });
const asked = (model: string) => ({ model, max_tokens: 500, messages: [{ role: 'user' as const, content: 'Hello' }] });

function creditsIn(usage: object): unknown {
  return 'credits' in usage ? usage.credits : undefined;
}

describe('the library @anthropic-ai/sdk', () => {
  for (const speaker of CHAT_SPEAKERS) {
    const { model } = speaker;

    test(`${model} answers, and tells what it cost`, async () => {
      const caller = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const message = await client(caller.key).messages.create({ ...asked(model), system: 'Be kind.' });
      const [block] = message.content;
      assert.match(block?.type === 'text' ? block.text : '', expected);
      assert.deepEqual([message.model, message.role, message.stop_reason], [model, 'assistant', 'end_turn']);
      assert.match(message._request_id ?? '', /^req_/);
      assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0);
      assert.equal(creditsIn(message.usage), await spentInTheEnd(world.gateway, caller));
    });

    test(`${model} streams, and the library puts the same message together`, async () => {
      const caller = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const stream = client(caller.key).messages.stream(asked(model));
      let heard = '';
      stream.on('text', (text) => {
        heard += text;
      });
      const message = await stream.finalMessage();
      assert.match(heard, expected);
      assert.deepEqual([message.model, message.stop_reason, message.content.length], [model, 'end_turn', 1]);
      assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0);
      assert.ok((await spentInTheEnd(world.gateway, caller)) > 0);
    });

    test(`${model} calls a tool and answers its result, streamed`, async () => {
      const caller = await paidCaller(world.gateway);
      const expected = speaker.calls('weather', { city: 'Bern' });
      const first = { ...asked(model), tools: [TOOL], tool_choice: { type: 'any' as const } };
      const turn = await client(caller.key).messages.stream(first).finalMessage();
      assert.equal(turn.stop_reason, 'tool_use');
      const call = turn.content.find((block) => block.type === 'tool_use');
      assert.ok(call !== undefined);
      assert.equal(call.name, 'weather');
      assert.match(JSON.stringify(call.input), expected);
      const said = speaker.says(GREETING);
      const result = { type: 'tool_result' as const, tool_use_id: call.id, content: 'Rain.' };
      const answer = await client(caller.key).messages.create({
        ...asked(model),
        tools: [TOOL],
        messages: [
          ...first.messages,
          { role: 'assistant', content: turn.content },
          { role: 'user', content: [result] },
        ],
      });
      const text = answer.content.find((block) => block.type === 'text');
      assert.match(text?.text ?? '', said);
    });

    test(`${model} counts`, async () => {
      const { key } = await paidCaller(world.gateway);
      const { max_tokens: _, ...counted } = asked(model);
      const { input_tokens: tokens } = await client(key).messages.countTokens(counted);
      assert.ok(tokens > 0);
    });

    test(`${model} takes what a coding agent sends: instructions in the middle, 28 tools, fields of betas`, async () => {
      const caller = await paidCaller(world.gateway);
      const expected = speaker.says(GREETING);
      const body = agentRequest(model);
      assert.ok(Buffer.byteLength(JSON.stringify(body)) > 80_000);
      const headers = { 'anthropic-beta': 'claude-code-20250219,context-management-2025-06-27,effort-2025-11-24' };
      const { status, text } = await world.gateway.call('POST', '/v1/messages?beta=true', {
        key: caller.key,
        headers,
        body,
      });
      assert.equal(status, 200, text.slice(0, 500));
      if (!model.startsWith('sandbox')) assert.match(textOf(text), expected);
      assert.ok((await spentInTheEnd(world.gateway, caller)) > 0);
    });
  }

  test('lists models, and retrieves one by an id with a slash', async () => {
    const { key } = await paidCaller(world.gateway);
    const models = await Array.fromAsync(client(key).models.list({ limit: 1000 }));
    const ids = models.map(({ id }) => id);
    assert.ok(CHAT_SPEAKERS.every(({ model }) => ids.includes(model)));
    const { id, type, created_at: created } = await client(key).models.retrieve('studio/openai');
    assert.deepEqual([id, type, Number.isNaN(Date.parse(created))], ['studio/openai', 'model', false]);
  });

  test('sees its own errors, with the words and the id of ours', async () => {
    const { key } = await paidCaller(world.gateway);
    const poor = await world.gateway.newCaller();
    const [model] = CHAT_SPEAKERS.map((speaker) => speaker.model);
    assert.ok(model !== undefined);
    for (const [run, kind, type] of [
      [() => client('sk-none').messages.create(asked(model)), Anthropic.AuthenticationError, 'authentication_error'],
      [() => client(key).messages.create(asked('nowhere')), Anthropic.NotFoundError, 'not_found_error'],
      [
        () => client(key).messages.create({ ...asked(model), messages: [] }),
        Anthropic.BadRequestError,
        'invalid_request_error',
      ],
      [() => client(poor.key).messages.create(asked(model)), Anthropic.APIError, 'billing_error'],
      [() => client(poor.key).messages.stream(asked(model)).finalMessage(), Anthropic.APIError, 'billing_error'],
    ] as const) {
      await assert.rejects(run, (error: unknown) => {
        assert.ok(error instanceof kind, String(error));
        assert.equal(error.type, type);
        assert.match(error.requestID ?? '', /^req_/);
        return true;
      });
    }
  });

  test('sees a failure in the middle of a stream as an error, and what came before it', async () => {
    const caller: NewCaller = await paidCaller(world.gateway);
    world.openai.script({ kind: 'frames', frames: [delta('One two'), { error: { message: 'broken', code: 'x' } }] });
    const stream = client(caller.key).messages.stream(asked('studio/openai'));
    let heard = '';
    stream.on('text', (text) => {
      heard += text;
    });
    await assert.rejects(stream.finalMessage(), (error: unknown) => {
      assert.ok(error instanceof Anthropic.APIError, String(error));
      assert.equal(error.type, 'api_error');
      return true;
    });
    assert.equal(heard, 'One two');
    assert.ok((await spentInTheEnd(world.gateway, caller)) > 0);
  });
});

/** All text of an answer, whole or streamed. */
function textOf(answer: string): string {
  const pieces = [...answer.matchAll(/"text_delta","text":("(?:[^"\\]|\\.)*")/g)];
  return pieces.map(([, text = '""']) => JSON.parse(text)).join('');
}
