import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { AnthropicEmulator, COUNTED_TOKENS, textBlock } from '../src/vendors/anthropic/emulator.ts';
import { GeminiEmulator } from '../src/vendors/gemini/emulator.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import type { Fields } from './support/documents.ts';
import { type Answer, type CallOptions, Gateway, type NewCaller } from './support/gateway.ts';
import { delta, gated, moneyOf, OpenStream, paidCaller, spentInTheEnd, tokenModel } from './support/paid-calls.ts';

const PATH = '/v1/messages';
const COUNT_PATH = '/v1/messages/count_tokens';

let gateway: Gateway;
const openai = new OpenAiEmulator({ marker: 'mark-openai' });
const anthropic = new AnthropicEmulator({ marker: 'mark-upstream' });
const gemini = new GeminiEmulator({ apiKey: 'key', models: ['wire-name'], marker: 'mark-gemini' });
before(async () => {
  await Promise.all([openai.start(), anthropic.start(), gemini.start()]);
  gateway = await Gateway.start();
});
after(async () => {
  await gateway.stop();
  await Promise.all([openai.stop(), anthropic.stop(), gemini.stop()]);
});

let caller: NewCaller;
let round = 0;
beforeEach(async () => {
  await route();
  caller = await paidCaller(gateway);
  for (const { requests } of [openai, anthropic, gemini]) requests.length = 0;
});
afterEach(() => gateway.assertBooksBalance());

/** Upstreams of their own for each test, so that none cools another's. */
async function route(more: Fields = {}): Promise<void> {
  const at = ++round;
  await gateway.putConfig({
    upstreams: [
      { id: `chat-${at}`, vendor: 'openai', base_url: openai.url },
      {
        id: `speaks-${at}`,
        vendor: 'anthropic',
        base_url: anthropic.url,
        api_key: anthropic.apiKey,
        priority: 5,
        ...more,
      },
      { id: `gemini-${at}`, vendor: 'gemini', base_url: gemini.url, api_key: 'key' },
      { id: `home-${at}`, vendor: 'sandbox' },
    ],
    models: [
      tokenModel('translated', [`chat-${at}`]),
      tokenModel('passed', [`speaks-${at}`]),
      tokenModel('both', [`speaks-${at}`, `chat-${at}`]),
      tokenModel('studio/gemini', [`gemini-${at}`]),
      tokenModel('home', [`home-${at}`]),
    ],
  });
}

function bodyOf(model: string, more: Fields = {}): Fields {
  return { model, max_tokens: 900, messages: [{ role: 'user', content: 'Hi' }], ...more };
}

function send(model: string, more: Fields = {}, options: CallOptions = {}): Promise<Answer> {
  return gateway.call('POST', PATH, { key: caller.key, body: bodyOf(model, more), ...options });
}

interface Event {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  readonly data: any;
}

/** Every event has a name, and its data repeats it. */
function eventsIn(text: string): Event[] {
  assert.ok(text.endsWith('\n\n'), text);
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((block) => {
      const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      assert.equal(JSON.parse(data).type, event, block);
      return { event, data: JSON.parse(data) };
    });
}

const textIn = (events: readonly Event[]) => events.map(({ data }) => data.delta?.text ?? '').join('');

describe('an answer', () => {
  for (const model of ['translated', 'passed', 'studio/gemini', 'home']) {
    test(`R-484: of ${model} is a message under the caller's name of the model, and tells what it cost`, async () => {
      const { status, json, headers } = await send(model);
      assert.equal(status, 200);
      assert.match(json.id, /^msg_[0-9A-Za-z]{24}$/);
      assert.deepEqual(
        [json.type, json.role, json.model, json.stop_reason],
        ['message', 'assistant', model, 'end_turn'],
      );
      assert.equal(json.stop_sequence, null);
      assert.equal(json.content.at(-1).type, 'text');
      assert.equal(headers['request-id'], headers['x-request-id']);
      const { input_tokens: input, output_tokens: output, credits } = json.usage;
      assert.ok(input > 0 && output > 0);
      assert.equal(credits, Math.round(input * 1000 + output * 4000) / 1e6);
      assert.equal((await moneyOf(gateway, caller)).spent, credits);
    });

    test(`R-483 R-484: of ${model} streams as events with names, one block open at a time`, async () => {
      const { status, text } = await send(model, { stream: true });
      assert.equal(status, 200);
      const events = eventsIn(text).filter(({ event }) => event !== 'ping');
      const names = events.map(({ event }) => event);
      assert.deepEqual([names[0], ...names.slice(-2)], ['message_start', 'message_delta', 'message_stop']);
      const { message } = events[0]?.data ?? {};
      assert.match(message.id, /^msg_[0-9A-Za-z]{24}$/);
      assert.deepEqual([message.model, message.content, message.stop_reason], [model, [], null]);
      assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens >= 0);
      let open = -1;
      for (const { event, data } of events.slice(1, -2)) {
        if (event === 'content_block_start') assert.equal(data.index, ++open);
        assert.equal(data.index, open);
      }
      assert.notEqual(textIn(events), '');
      const { delta: last, usage } = events.at(-2)?.data ?? {};
      assert.deepEqual([last.stop_reason, last.stop_sequence], ['end_turn', null]);
      assert.ok(usage.output_tokens > 0);
      assert.equal(usage.credits, await spentInTheEnd(gateway, caller));
    });
  }

  test('costs the same as chat for the same text, whole and streamed', async () => {
    const told = { prompt_tokens: 40, completion_tokens: 7, total_tokens: 47 };
    for (const usage of [told, null]) {
      openai.script({ kind: 'answer', text: 'Good day.', usage }, { kind: 'answer', text: 'Good day.', usage });
      openai.script({ kind: 'answer', text: 'Good day.', usage }, { kind: 'answer', text: 'Good day.', usage });
      const chat = { model: 'translated', max_tokens: 900, messages: [{ role: 'user', content: 'Hi' }] };
      const spent = async (path: string, body: Fields) => {
        const other = await paidCaller(gateway);
        await gateway.call('POST', path, { key: other.key, body });
        return spentInTheEnd(gateway, other);
      };
      const whole = await spent('/v1/chat/completions', chat);
      assert.ok(whole > 0);
      assert.equal(await spent(PATH, bodyOf('translated')), whole);
      const streamed = await spent('/v1/chat/completions', { ...chat, stream: true });
      assert.equal(await spent(PATH, bodyOf('translated', { stream: true })), streamed);
    }
  });

  test('of a caller who leaves is charged as far as it was delivered', async () => {
    const never = Promise.withResolvers<void>();
    openai.script({ kind: 'frames', frames: gated(delta('One two three '), never.promise, delta('four', 'stop')) });
    const options = { key: caller.key, body: bodyOf('translated', { stream: true }) };
    const stream = await OpenStream.open(gateway, PATH, options);
    await stream.until('three');
    await stream[Symbol.asyncDispose]();
    assert.equal(await openai.requests[0]?.isAbandoned, true);
    never.resolve();
    const spent = await spentInTheEnd(gateway, caller);
    const { json } = await gateway.call('GET', `/v1/requests/${String(stream.headers['x-request-id'])}`, {
      key: caller.key,
    });
    const { input_tokens: input, output_tokens: output } = json.usage;
    assert.ok(output >= 3 && output <= 6, JSON.stringify(json));
    assert.equal(spent, Math.round(input * 1000 + output * 4000) / 1e6);
  });

  test('that is passed on and left is charged by its text, not by its events', async () => {
    const never = Promise.withResolvers<void>();
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content: [],
      usage: { input_tokens: 9 },
    };
    const start = { type: 'message_start', message };
    const opened = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
    const words = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'One two three ' } };
    anthropic.script({ kind: 'frames', frames: [start, opened, words, never.promise] });
    const options = { key: caller.key, body: bodyOf('passed', { stream: true }) };
    const stream = await OpenStream.open(gateway, PATH, options);
    await stream.until('three');
    await stream[Symbol.asyncDispose]();
    never.resolve();
    const spent = await spentInTheEnd(gateway, caller);
    const { json } = await gateway.call('GET', `/v1/requests/${String(stream.headers['x-request-id'])}`, {
      key: caller.key,
    });
    const { input_tokens: input, output_tokens: output } = json.usage;
    assert.ok(output >= 3 && output <= 6, JSON.stringify(json));
    assert.equal(spent, Math.round(input * 1000 + output * 4000) / 1e6);
  });

  test('that cannot be made by the upstream that speaks the format is made over chat, within one call', async () => {
    for (const stream of [false, true]) {
      await route();
      anthropic.requests.length = 0;
      const broken = { kind: 'error', status: 529, type: 'overloaded_error' } as const;
      anthropic.script(broken);
      openai.script({ kind: 'answer', text: 'Made over chat.' });
      const { status, text } = await send('both', { stream });
      assert.equal(status, 200, text);
      assert.match(text, /Made/);
      assert.equal(anthropic.requests.length, 1);
      assert.equal(openai.requests.length, stream ? 2 : 1);
    }
    const { json } = await gateway.call('GET', '/v1/credits/transactions?limit=100', { key: caller.key });
    assert.equal(json.data.filter(({ type }: { type: string }) => type === 'settle').length, 2, JSON.stringify(json));
  });

  test('says max_tokens, tool_use and refusal where chat says length, tool_calls and content_filter', async () => {
    for (const [finish, reason] of [
      ['length', 'max_tokens'],
      ['content_filter', 'refusal'],
    ] as const) {
      openai.script({ kind: 'frames', frames: gated(delta('One'), delta('', finish)) });
      const events = eventsIn((await send('translated', { stream: true })).text);
      assert.equal(events.at(-2)?.data.delta.stop_reason, reason);
    }
  });
});

describe('what is passed on', () => {
  /** As a library of another language writes it. */
  const RAW =
    '{"max_tokens": 900,  "model" : "passed", "messages": [{"role": "user", "content": "Caf\\u00e9 \\/ 1.0"}],' +
    '\n "temperature": 1.0, "metadata": {"user_id": "a"}, "system": [{"type": "text", "text": "x-anthropic-billing-header: a"}]}';

  test('goes up to the byte, but for the name of the model', async () => {
    const { status, text } = await gateway.call('POST', PATH, { key: caller.key, raw: RAW });
    assert.equal(status, 200, text);
    const [request] = anthropic.requests;
    assert.equal(String(request?.bytes), RAW.replace('"model" : "passed"', '"model" :"wire-name"'));
    assert.equal(request?.headers['x-api-key'], anthropic.apiKey);
    assert.equal(request.headers.authorization, undefined);
  });

  test('goes up to the byte when it is too large to be parsed on the event loop', async () => {
    const words = 'word "quoted" \u4e16 \\ '.repeat(40_000);
    const raw = `{ "messages":[{"role":"user","content":${JSON.stringify(words)}}],"model":"passed","max_tokens":900 }`;
    const { status, text } = await gateway.call('POST', PATH, { key: caller.key, raw });
    assert.equal(status, 200, text);
    assert.ok(anthropic.requests[0]?.bytes.equals(Buffer.from(raw.replace('"model":"passed"', '"model":"wire-name"'))));
  });

  test('comes back as it came, but for id, model and cost', async () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 20, cache_creation_input_tokens: 10, output_tokens: 8 };
    const content = [textBlock('Good day.')];
    anthropic.script({ kind: 'message', content, usage }, { kind: 'message', content, usage });
    const { json } = await send('passed');
    assert.deepEqual(json.content, content);
    assert.equal(json.usage.cache_read_input_tokens, 20);
    assert.deepEqual([json.service_tier, json.usage.service_tier, json.container], [undefined, 'standard', null]);
    assert.equal(json.usage.credits, (3 + 10 + 20 + 8 * 4) / 1000);
    const { text } = await send('passed', { stream: true });
    assert.match(
      text,
      /\n\nevent: content_block_delta\ndata: \{"type":"content_block_delta","index":0,"delta":\{"type":"text_delta","text":"Good "\},"marker":"mark-upstream"\}\n\n/,
    );
    assert.ok(!text.includes('wire-name') && !text.includes('msg_mark'));
    const last = eventsIn(text).at(-2)?.data;
    assert.equal(last.usage.credits, json.usage.credits);
  });

  test('is asked for as a stream where the answer may be long, and comes back whole all the same', async () => {
    anthropic.script({ kind: 'message', content: [textBlock('A long story.')] });
    const { json } = await send('passed', { max_tokens: 32_000 });
    assert.equal(JSON.parse(String(anthropic.requests[0]?.bytes)).stream, true);
    assert.deepEqual([json.content[0].text, json.stop_reason, json.model], ['A long story.', 'end_turn', 'passed']);
    assert.ok(json.usage.input_tokens > 0 && json.usage.credits > 0);
  });

  test('has only those betas that the upstream lets callers turn on, and a version that there is', async () => {
    const headers = {
      'anthropic-beta':
        'interleaved-thinking-2025-05-14, fast-mode-2026-02-01,context-1m-2025-08-07,claude-code-20250219',
      'anthropic-version': '2026-10-21',
    };
    await send('passed', {}, { headers });
    const sent = anthropic.requests[0]?.headers;
    assert.equal(sent?.['anthropic-beta'], 'interleaved-thinking-2025-05-14,claude-code-20250219');
    assert.equal(sent['anthropic-version'], '2026-10-21');
    await route({ betas: ['context-1m'] });
    await send('passed', {}, { headers: { ...headers, 'anthropic-version': 'tomorrow' } });
    assert.equal(anthropic.requests[1]?.headers['anthropic-beta'], 'context-1m-2025-08-07');
    assert.equal(anthropic.requests[1]?.headers['anthropic-version'], '2023-06-01');
  });

  test('may use what the vendor runs itself only where the upstream says so', async () => {
    const search = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] };
    const refused = await send('passed', search);
    assert.deepEqual([refused.status, refused.json.error.code], [400, 'unsupported_parameter']);
    assert.match(refused.json.error.message, /web_search_20250305/);
    assert.deepEqual(await moneyOf(gateway, caller), { available: 1000, reserved: 0, spent: 0 });
    const file = { type: 'document', source: { type: 'file', file_id: 'file_1' } };
    const named = await send('passed', { messages: [{ role: 'user', content: [file] }] });
    assert.match(named.json.error.message, /file_id/);
    assert.equal(anthropic.requests.length, 0);
    await route({ server_tools: true });
    assert.equal((await send('passed', search)).status, 200);
  });

  test('goes to the upstream that speaks the format where no other can be asked', async () => {
    await route({ server_tools: true, priority: -1 });
    const search = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] };
    assert.equal((await send('both', search)).status, 200);
    assert.deepEqual([openai.requests.length, anthropic.requests.length], [0, 1]);
  });
});

describe('a refusal', () => {
  const refusals: readonly (readonly [
    what: string,
    run: () => Promise<Answer>,
    status: number,
    type: string,
    code: string,
  ])[] = [
    [
      'without a key',
      () => gateway.call('POST', PATH, { body: bodyOf('passed') }),
      401,
      'authentication_error',
      'missing_token',
    ],
    ['of an unknown model', () => send('nowhere'), 404, 'not_found_error', 'model_not_found'],
    [
      'of what is no JSON',
      () => gateway.call('POST', PATH, { key: caller.key, raw: '{' }),
      400,
      'invalid_request_error',
      'invalid_json',
    ],
    [
      'of a body without max_tokens',
      () => send('passed', { max_tokens: undefined }),
      400,
      'invalid_request_error',
      'invalid_parameter',
    ],
    [
      'of a body without messages',
      () => send('passed', { messages: [] }),
      400,
      'invalid_request_error',
      'missing_messages',
    ],
    [
      'of a role that there is not',
      () => send('passed', { messages: [{ role: 'tool', content: 'x' }] }),
      400,
      'invalid_request_error',
      'invalid_parameter',
    ],
    [
      'of a body that is too large',
      () => gateway.call('POST', PATH, { key: caller.key, raw: Buffer.alloc(33 * 1024 * 1024) }),
      413,
      'request_too_large',
      'body_too_large',
    ],
    [
      'of an encoding',
      () => send('passed', {}, { headers: { 'content-encoding': 'gzip' } }),
      400,
      'invalid_request_error',
      'unsupported_content_encoding',
    ],
    [
      'of a prefill over chat',
      () => send('translated', { messages: [{ role: 'assistant', content: 'One' }] }),
      400,
      'invalid_request_error',
      'unsupported_parameter',
    ],
  ];
  for (const [what, run, status, type, code] of refusals) {
    test(`${what} has the shape of the format`, async () => {
      const answer = await run();
      assert.deepEqual(
        [answer.status, answer.json?.error.type, answer.json?.error.code],
        [status, type, code],
        answer.text,
      );
      assert.equal(answer.json.request_id, answer.headers['request-id']);
    });
  }

  test('for want of credits is not to be tried again, and one of the rate is', async () => {
    const poor = await gateway.newCaller({ key: { rpm: 1 } });
    const broke = await gateway.call('POST', PATH, { key: poor.key, body: bodyOf('passed') });
    assert.deepEqual(
      [broke.status, broke.json.error.type, broke.headers['x-should-retry']],
      [402, 'billing_error', 'false'],
    );
    const often = await gateway.call('POST', PATH, { key: poor.key, body: bodyOf('passed') });
    assert.deepEqual(
      [often.status, often.json.error.type, often.headers['x-should-retry']],
      [429, 'rate_limit_error', 'true'],
    );
  });

  test('of server tools, MCP servers and files by an upstream over chat names what it is', async () => {
    for (const [more, word] of [
      [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, /web_search_20250305/],
      [{ mcp_servers: [{ type: 'url', url: 'https://x.test', name: 'x' }] }, /mcp_servers/],
      [
        { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
        /source/,
      ],
    ] as const) {
      const { status, json } = await send('translated', more);
      assert.deepEqual([status, json.error.code], [400, 'unsupported_parameter']);
      assert.match(json.error.message, word);
    }
    assert.equal(openai.requests.length, 0);
  });
});

describe('the door', () => {
  test('takes the key in x-api-key and as a bearer, any version and any beta, with ?beta=true', async () => {
    const headers = { 'anthropic-version': '1999-01-01', 'anthropic-beta': 'nothing-2020-01-01,else' };
    const asBearer = { authorization: `Bearer ${caller.key}` };
    for (const key of [{ 'x-api-key': caller.key }, asBearer]) {
      const options = { headers: { ...headers, ...key }, body: bodyOf('passed') };
      assert.equal((await gateway.call('POST', `${PATH}?beta=true`, options)).status, 200);
      const { max_tokens: _, ...counted } = bodyOf('passed');
      const count = await gateway.call('POST', `${COUNT_PATH}?beta=true`, { ...options, body: counted });
      assert.equal(count.status, 200, count.text);
    }
  });
});

describe('counting', () => {
  const { max_tokens: _, ...counted } = bodyOf('');
  const count = (model: string, more: Fields = {}) =>
    gateway.call('POST', COUNT_PATH, { key: caller.key, body: { ...counted, model, ...more } });

  test('is done by the upstream where that counts for nothing, else here, and costs nothing', async () => {
    assert.deepEqual((await count('passed')).json, { input_tokens: COUNTED_TOKENS });
    assert.equal(anthropic.requests[0]?.path, COUNT_PATH);
    assert.deepEqual((await count('studio/gemini')).json, { input_tokens: 7 });
    const { input_tokens: estimated } = (await count('translated')).json;
    assert.ok(estimated > 0 && estimated < 20);
    assert.equal(openai.requests.length, 0);
    const prefill = await count('translated', { messages: [{ role: 'assistant', content: 'One' }] });
    assert.equal(prefill.status, 200);
    assert.deepEqual(await moneyOf(gateway, caller), { available: 1000, reserved: 0, spent: 0 });
  });

  test('falls back to an estimate when the upstream fails, which is no strike against it', async () => {
    for (let times = 0; times < 5; times++) anthropic.script({ kind: 'error', status: 429, type: 'rate_limit_error' });
    for (let times = 0; times < 5; times++) assert.ok((await count('passed')).json.input_tokens > 0);
    assert.equal((await send('passed')).status, 200);
  });

  test('has a rate of its own', async () => {
    const { key } = await gateway.newCaller({ key: { rpm: 2 } });
    const ask = () => gateway.call('POST', COUNT_PATH, { key, body: { ...counted, model: 'translated' } });
    assert.deepEqual([(await ask()).status, (await ask()).status, (await ask()).status], [200, 200, 429]);
    assert.equal((await gateway.call('GET', '/v1/models', { key })).status, 200);
  });
});
