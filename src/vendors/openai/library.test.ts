import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { CONTENT, KEY, MARKER, TOOL_CALLS, USAGE } from './emulator/calls.ts';
import { ERRORS, OpenAiEmulator } from './emulator.ts';

describe('the vendor’s own library takes the emulator for the vendor', () => {
  const emulator = new OpenAiEmulator({ apiKey: KEY, models: ['gpt-x'], marker: MARKER });
  const body = { model: 'gpt-x', messages: [{ role: 'user' as const, content: 'Hello' }] };
  let client: OpenAI;
  before(async () => {
    await emulator.start();
    client = new OpenAI({ baseURL: emulator.url, apiKey: KEY, maxRetries: 0 });
  });
  after(() => emulator.stop());

  test('a chat', async () => {
    emulator.script({ kind: 'answer', text: 'Good day.', usage: USAGE });
    const answer = await client.chat.completions.create(body);
    assert.equal(answer.choices[0]?.message.content, 'Good day.');
    assert.equal(answer.usage?.prompt_tokens_details?.cached_tokens, 60);
    assert.equal(answer._request_id, `req_${MARKER}`);
  });

  test('a stream, with its usage', async () => {
    emulator.script({ kind: 'answer', text: 'Good day to you.' });
    const stream = await client.chat.completions.create({
      ...body,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    assert.deepEqual([text, chunks.at(-1)?.usage?.total_tokens], ['Good day to you.', 12]);
  });

  test('a stream that was not asked for its usage tells none', async () => {
    const chunks = await Array.fromAsync(await client.chat.completions.create({ ...body, stream: true }));
    assert.ok(chunks.every((chunk) => chunk.usage === undefined && chunk.choices.length === 1));
  });

  test('tools, put together from a stream', async () => {
    emulator.script({ kind: 'answer', toolCalls: TOOL_CALLS });
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }];
    const final = await client.chat.completions.stream({ ...body, tools }).finalChatCompletion();
    const calls = final.choices[0]?.message.tool_calls?.map((call) => call.type === 'function' && call.function);
    assert.deepEqual(
      calls?.map((call) => call && { name: call.name, arguments: call.arguments }),
      TOOL_CALLS.map(({ name, arguments: text }) => ({ name, arguments: text })),
    );
  });

  const CLASSES = [
    ['invalid', OpenAI.BadRequestError],
    ['badKey', OpenAI.AuthenticationError],
    ['forbidden', OpenAI.PermissionDeniedError],
    ['noModel', OpenAI.NotFoundError],
    ['conflict', OpenAI.ConflictError],
    ['unprocessable', OpenAI.UnprocessableEntityError],
    ['throttled', OpenAI.RateLimitError],
    ['broken', OpenAI.InternalServerError],
  ] as const;
  for (const [error, ErrorClass] of CLASSES) {
    test(`the error ${error}`, async () => {
      emulator.script({ kind: 'error', error });
      await assert.rejects(client.chat.completions.create(body), (thrown) => {
        assert.ok(thrown instanceof ErrorClass);
        assert.deepEqual([thrown.status, thrown.code], [ERRORS[error].status, ERRORS[error].code]);
        return true;
      });
    });
  }

  test('an error inside a stream', async () => {
    emulator.script({ kind: 'frames', frames: [CONTENT, { error: { message: 'x', code: 'server_error' } }] });
    const stream = await client.chat.completions.create({ ...body, stream: true });
    await assert.rejects(Array.fromAsync(stream), { code: 'server_error' });
  });

  test('a wrong key, an unknown model and an unknown field are refused', async () => {
    const stranger = new OpenAI({ baseURL: emulator.url, apiKey: 'sk-other', maxRetries: 0 });
    await assert.rejects(stranger.chat.completions.create(body), { status: 401, code: 'invalid_api_key' });
    await assert.rejects(client.chat.completions.create({ ...body, model: 'x' }), { status: 404 });
    await assert.rejects(client.post('/chat/completions', { body: { ...body, odd: 1 } }), {
      code: 'unknown_parameter',
    });
    await assert.rejects(client.batches.list(), { status: 404 });
    await assert.rejects(stranger.models.list(), { status: 401 });
    assert.deepEqual(
      (await client.models.list()).data.map(({ object }) => object),
      ['model'],
    );
  });
});
