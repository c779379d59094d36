import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import type { Fields } from './support/documents.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import {
  chatBody,
  delta,
  framesIn,
  gated,
  moneyOf,
  OpenStream,
  paidCaller,
  spentInTheEnd,
  tokenModel,
} from './support/paid-calls.ts';
import { RawConnection } from './support/raw-http.ts';

const MIB = 1024 * 1024;
const PATH = '/v1/chat/completions';

let gateway: Gateway;
const upstream = new OpenAiEmulator({ apiKey: 'key-of-the-operator', isLenient: true });
before(async () => {
  await upstream.start();
  gateway = await Gateway.start();
});
after(async () => {
  await gateway.stop();
  await upstream.stop();
});

let caller: NewCaller;
let upstreams = 0;
beforeEach(async () => {
  // A new one each time: what one test does to it leaves the next alone.
  const id = `upstream-${++upstreams}`;
  await gateway.putConfig({
    upstreams: [{ id, vendor: 'openai', base_url: upstream.url, api_key: 'key-of-the-operator' }],
    models: [
      tokenModel('ns/talker:1', [id], { max_output_tokens: 100_000 }),
      tokenModel('silent', [id], { endpoints: ['native'] }),
    ],
  });
  caller = await paidCaller(gateway);
  upstream.requests.length = 0;
});
afterEach(() => gateway.assertBooksBalance());

function chat(more: Fields = {}, { key }: { key: string } = caller): Promise<Answer> {
  return gateway.call('POST', PATH, { key, body: chatBody('ns/talker:1', more) });
}

function raw(text: string | Buffer): Promise<Answer> {
  return gateway.call('POST', PATH, { key: caller.key, raw: text });
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [status, code], answer.text);
}

/** What the upstream was sent last. */
function sent(): Fields {
  return JSON.parse(sentText());
}

function sentText(): string {
  return upstream.requests.at(-1)?.bytes.toString('utf8') ?? assert.fail('nothing was sent');
}

const STREAM = { stream: true };
const STREAM_WITH_USAGE = { stream: true, stream_options: { include_usage: true } };

describe('a whole answer', () => {
  test('R-474: needs a key', async () => {
    refused(await gateway.call('POST', PATH, { body: chatBody('ns/talker:1') }), 401, 'missing_token');
    assert.equal(upstream.requests.length, 0);
  });

  test('R-149 R-474: a model whose card does not list chat is not found here', async () => {
    refused(await chat({ model: 'silent' }), 404, 'model_not_found');
    refused(await chat({ model: 'nobody' }), 404, 'model_not_found');
    assert.equal(upstream.requests.length, 0);
  });

  test('R-478: has the common shape, under the name that the caller asked for', async () => {
    const { status, json } = await chat();
    assert.equal(status, 200);
    const { id, created, usage, choices, ...rest } = json;
    assert.match(id, /^chatcmpl-[A-Za-z0-9]{20,}$/);
    assert.equal(created, gateway.clock.nowMs() / 1000);
    assert.deepEqual(rest, { object: 'chat.completion', model: 'ns/talker:1', service_tier: 'default' });
    const [{ index, message, finish_reason }] = choices;
    assert.deepEqual([index, message.role, message.content, finish_reason], [0, 'assistant', 'Hello there.', 'stop']);
    assert.deepEqual(usage, {
      prompt_tokens: 9,
      completion_tokens: 3,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
      credits: 0.021,
    });
  });

  test('R-478: tool calls come through', async () => {
    upstream.script({ kind: 'answer', toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"a":1}' }] });
    const [choice] = (await chat()).json.choices;
    assert.equal(choice.finish_reason, 'tool_calls');
    assert.deepEqual(choice.message.tool_calls, [
      { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
    ]);
  });

  test('R-477: the fields of the request reach the upstream as they are, the model under its own name', async () => {
    const fields = {
      max_completion_tokens: 5,
      temperature: 0.5,
      top_p: 0.9,
      n: 1,
      stop: ['x'],
      seed: 7,
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      tool_choice: 'auto',
      response_format: { type: 'json_object' },
      user: 'u',
    };
    assert.equal((await chat(fields)).status, 200);
    assert.deepEqual(sent(), chatBody('wire-name', fields));
    assert.equal(upstream.requests[0]?.headers.authorization, 'Bearer key-of-the-operator');
  });

  test('R-477: keys that nobody knows are forwarded with every number as it was written', async () => {
    const odd = '"zz":{"b":1.10,"a":[12345678901234567890,1e400,-0.0]}';
    const answer = await raw(
      `{"model":"ns/talker:1","messages":[{"role":"user","content":"Hi","y":9007199254740993}],${odd}}`,
    );
    assert.equal(answer.status, 200, answer.text);
    assert.ok(sentText().includes(odd), sentText());
    assert.ok(sentText().includes('"y":9007199254740993'), sentText());
  });
});

describe('a stream', () => {
  test('R-479: is frames of the common shape under one id and the caller’s model, then an end marker', async () => {
    const { status, headers, text } = await chat(STREAM);
    assert.equal(status, 200);
    assert.match(headers['content-type'] ?? '', /^text\/event-stream/);
    assert.ok(text.endsWith('\n\ndata: [DONE]\n\n'));
    const frames = framesIn(text);
    assert.equal(frames.map(({ choices }) => choices[0].delta.content ?? '').join(''), 'Hello there.');
    assert.equal(frames.at(-1).choices[0].finish_reason, 'stop');
    const heads = new Set(frames.map(({ id, object, created, model }) => [id, object, created, model].join(' ')));
    assert.equal(heads.size, 1);
    const created = gateway.clock.nowMs() / 1000;
    assert.match([...heads][0] ?? '', new RegExp(`^chatcmpl-\\w+ chat.completion.chunk ${created} ns/talker:1$`));
  });

  test('R-479: whoever does not ask for usage sees none, but the upstream is asked and its count is charged', async () => {
    const { text } = await chat({ stream: true, stream_options: { include_usage: false } });
    assert.ok(framesIn(text).every((frame) => !('usage' in frame) && frame.choices.length === 1));
    assert.deepEqual(sent().stream_options, { include_usage: true });
    assert.equal(await spentInTheEnd(gateway, caller), 0.021);
  });

  test('R-479 R-484: whoever asks for usage gets it with the credits in a last frame of its own', async () => {
    const frames = framesIn((await chat(STREAM_WITH_USAGE)).text);
    const last = frames.pop();
    assert.ok(frames.every(({ usage }) => usage === null));
    assert.deepEqual([last.choices, last.model, last.id], [[], 'ns/talker:1', frames[0].id]);
    assert.deepEqual([last.usage.total_tokens, last.usage.credits], [12, 0.021]);
    assert.equal((await moneyOf(gateway, caller)).spent, 0.021);
  });

  test('R-476 R-481: one that ends before it began answers 502 and costs nothing', async () => {
    upstream.script({ kind: 'fault', fault: 'empty stream' });
    refused(await chat(STREAM), 502, 'upstream_failed');
    assert.deepEqual(await moneyOf(gateway, caller), { available: 1000, reserved: 0, spent: 0 });
  });

  test('R-475 R-480: a failure after the first byte is an error frame at the end, and no end marker', async () => {
    upstream.script({ kind: 'frames', frames: [delta('One '), delta('two')], end: 'reset' });
    const { status, text } = await chat(STREAM_WITH_USAGE);
    assert.equal(status, 200);
    const frames = framesIn(text);
    const told = frames.pop();
    assert.deepEqual(told, {
      error: {
        message: 'The model could not be reached or gave no usable answer.',
        type: 'upstream_error',
        code: 'upstream_failed',
        param: null,
      },
    });
    assert.equal(frames.map(({ choices }) => choices[0].delta.content).join(''), 'One two');
    assert.ok(!text.includes('[DONE]'));
  });

  test('R-475 R-480: an error that the upstream tells inside its stream becomes such a frame', async () => {
    upstream.script({ kind: 'frames', frames: [delta('One '), { error: { message: 'no', code: 400 } }] });
    const frames = framesIn((await chat(STREAM)).text);
    assert.deepEqual([frames.length, frames[1].error.code], [2, 'upstream_failed']);
  });

  test('R-479: a comment keeps an idle connection alive every 15 seconds', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const more = Promise.withResolvers<void>();
    upstream.script({ kind: 'frames', frames: gated(delta('One '), more.promise, delta('two', 'stop')) });
    await using stream = await OpenStream.open(gateway, PATH, {
      key: caller.key,
      body: chatBody('ns/talker:1', STREAM),
    });
    await stream.until('One ');
    t.mock.timers.tick(14_999);
    t.mock.timers.tick(1);
    assert.match(await stream.until('alive'), /\n\n: keep-alive\n\n$/);
    more.resolve();
    const { text } = await stream.rest();
    assert.deepEqual([text.split(': keep-alive').length, framesIn(text).length], [2, 2]);
  });
});

describe('what is refused', () => {
  for (const [what, body, status, code] of [
    ['no JSON', '{', 400, 'invalid_json'],
    ['a list', '[]', 400, 'invalid_json'],
    ['no model', '{"messages":[{"role":"user","content":"Hi"}]}', 400, 'missing_model'],
    ['no messages', '{"model":"ns/talker:1"}', 400, 'missing_messages'],
    ['an empty list of messages', '{"model":"ns/talker:1","messages":[]}', 400, 'missing_messages'],
    ['messages that are no list', '{"model":"ns/talker:1","messages":"Hi"}', 400, 'missing_messages'],
  ] as const) {
    test(`R-481: ${what}`, async () => {
      refused(await raw(body), status, code);
      assert.equal(upstream.requests.length, 0);
    });
  }

  for (const [what, more, code] of [
    ['no whole number of answers', { n: 0 }, 'invalid_n'],
    ['more answers than anybody makes', { n: 129 }, 'invalid_n'],
    ['a stream that is no flag', { stream: 'true' }, 'invalid_parameter'],
    ['a limit below one token', { max_tokens: 0 }, 'invalid_parameter'],
    ['a message without a role', { messages: [{ content: 'Hi' }] }, 'invalid_parameter'],
  ] as const) {
    test(`refuses ${what} before anything is held`, async () => {
      refused(await chat(more), 400, code);
      assert.equal((await moneyOf(gateway, caller)).available, 1000);
    });
  }

  for (const [field, wrong] of [
    ['stream', ['true', 1, [], {}]],
    ['stream_options', ['usage', 1, true, []]],
    ['stream_options.include_usage', [{ stream_options: { include_usage: 'yes' } }]],
    ['max_tokens', ['5', 1.5, true, [], {}]],
    ['max_completion_tokens', ['5', 1.5, true, [], {}]],
    ['temperature', ['1', true, [], {}]],
    ['top_p', ['1', true, [], {}]],
    ['presence_penalty', ['1', true, [], {}]],
    ['frequency_penalty', ['1', true, [], {}]],
    ['seed', ['7', 1.5, true, [], {}]],
    ['stop', [1, true, {}, [1], ['a', null]]],
    ['logprobs', ['true', 1, [], {}]],
    ['top_logprobs', ['1', 1.5, -1, true, []]],
    ['logit_bias', ['1', 1, true, []]],
    ['tools', ['f', 1, true, {}]],
    ['tools[1]', [{ tools: [{}, 'f'] }, { tools: [{}, []] }, { tools: [{}, null] }]],
    ['tool_choice', [1, true, []]],
    ['parallel_tool_calls', ['true', 1, [], {}]],
    ['response_format', ['json_object', 1, true, []]],
    ['user', [1, true, [], {}]],
    ['messages[1]', [{ messages: [{ role: 'user' }, 'Hi'] }, { messages: [{ role: 'user' }, null] }]],
    ['messages[1].role', [{ messages: [{ role: 'user' }, { role: 1 }] }]],
  ] as const) {
    test(`R-078, R-477: ${field} of the wrong type is refused by its name`, async () => {
      for (const value of wrong) {
        const isWhole = /[.[]/.test(field);
        const answer = await chat(isWhole ? (value as Fields) : { [field]: value });
        refused(answer, 400, 'invalid_parameter');
        assert.equal(answer.json.error.param, field);
      }
      assert.equal(upstream.requests.length, 0);
    });
  }

  test('R-477: null in any of these fields is the same as nothing', async () => {
    const fields =
      'stream stream_options max_tokens max_completion_tokens n temperature top_p presence_penalty frequency_penalty ' +
      'seed stop logprobs top_logprobs logit_bias tools tool_choice parallel_tool_calls response_format user';
    const nulls = Object.fromEntries(fields.split(' ').map((field) => [field, null]));
    assert.equal((await chat(nulls)).status, 200);
    assert.deepEqual(sent(), chatBody('wire-name', nulls));
  });

  test('R-477: a seed that no double can hold is forwarded as it was written', async () => {
    const answer = await raw(
      '{"model":"ns/talker:1","messages":[{"role":"user","content":"Hi"}],"seed":9007199254740993,"top_p":1.0}',
    );
    assert.equal(answer.status, 200, answer.text);
    assert.ok(sentText().includes('"seed":9007199254740993,"top_p":1.0'), sentText());
  });

  test('R-482: 10 000 messages pass and one more does not', async () => {
    const messages = Array.from({ length: 10_001 }, () => ({ role: 'user', content: '' }));
    assert.equal((await chat({ messages })).status, 400);
    assert.equal(upstream.requests.length, 0);
    assert.equal((await chat({ messages: messages.slice(1) })).status, 200);
  });

  test('R-482: a body of 32 MiB passes', async () => {
    const empty = JSON.stringify(chatBody('ns/talker:1', { pad: '' }));
    const body = JSON.stringify(chatBody('ns/talker:1', { pad: 'x'.repeat(32 * MIB - empty.length) }));
    assert.equal(body.length, 32 * MIB);
    assert.equal((await raw(body)).status, 200);
  });

  test('R-481 R-482: a byte more is refused by its announced length alone', async () => {
    using connection = await RawConnection.open(gateway.url);
    const headers = `Host: x\r\nAuthorization: Bearer ${caller.key}\r\nContent-Length: ${32 * MIB + 1}`;
    await connection.send(`POST ${PATH} HTTP/1.1\r\n${headers}\r\n\r\n`);
    refused(await connection.answer(), 413, 'body_too_large');
  });
});
