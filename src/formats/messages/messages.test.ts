import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorEnvelope, UpstreamError } from '../../errors.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import { parseJson } from '../../json.ts';
import { parseWith } from '../../parse.ts';
import type { Settled } from '../format.ts';
import { toMessage } from './answer.ts';
import { messagesFormat } from './index.ts';
import { toChat } from './request.ts';
import { messagesSchema } from './schema.ts';
import { UNSIGNED_MARK } from './thoughts.ts';
import { MessagesWriter } from './writer.ts';

const HI = { role: 'user', content: 'Hi' };

function translated(more: JsonObject) {
  const body: JsonObject = { model: 'm', max_tokens: 100, messages: [HI], ...more };
  return toChat(parseWith(messagesSchema, body), body);
}

/** The chat body, without what every case has. */
function chatOf(more: JsonObject): JsonObject {
  const { chat, refusal } = translated(more);
  assert.equal(refusal, undefined);
  const { model: _, max_completion_tokens: limit, ...rest } = chat.body;
  assert.deepEqual([chat.maxOutputTokens, limit], [100, 100]);
  assert.deepEqual([chat.messages, chat.tools], [rest.messages, rest.tools ?? []]);
  return rest;
}

const PICTURE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } };
const PICTURE_PART = { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } };
const TOOL = {
  name: 'weather',
  description: 'Tells it.',
  input_schema: { $schema: 'x', type: 'object', properties: {} },
};
const FUNCTION = {
  type: 'function',
  function: { name: 'weather', description: 'Tells it.', parameters: { type: 'object', properties: {} } },
};
const CALL = { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Oslo' } };
const CALLED = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Oslo"}' },
};

describe('a request becomes chat', () => {
  const cases: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ['a text', {}, { messages: [HI] }],
    ['instructions', { system: 'Be kind.' }, { messages: [{ role: 'system', content: 'Be kind.' }, HI] }],
    [
      'instructions in blocks, without the line that changes with every turn',
      {
        system: [
          { type: 'text', text: 'x-anthropic-billing-header: cc_version=1' },
          { type: 'text', text: 'One.', cache_control: { type: 'ephemeral' } },
          { type: 'text', text: 'Two.' },
        ],
      },
      { messages: [{ role: 'system', content: 'One.\n\nTwo.' }, HI] },
    ],
    [
      'instructions in the middle',
      { messages: [HI, { role: 'system', content: [{ type: 'text', text: 'Now be short.' }] }] },
      { messages: [HI, { role: 'system', content: 'Now be short.' }] },
    ],
    [
      'blocks of text, a picture and a picture by its address',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look:', cache_control: { type: 'ephemeral' } },
              PICTURE,
              { type: 'image', source: { type: 'url', url: 'https://a.test/b.png' } },
            ],
          },
        ],
      },
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look:' },
              PICTURE_PART,
              { type: 'image_url', image_url: { url: 'https://a.test/b.png' } },
            ],
          },
        ],
      },
    ],
    [
      'documents',
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'document',
                title: 'a.pdf',
                source: { type: 'base64', media_type: 'application/pdf', data: 'QQ==' },
              },
              { type: 'document', title: 'T', source: { type: 'text', media_type: 'text/plain', data: 'Words.' } },
              { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'In it.' }] } },
            ],
          },
        ],
      },
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QQ==' } },
              { type: 'text', text: 'T\n\nWords.' },
              { type: 'text', text: 'In it.' },
            ],
          },
        ],
      },
    ],
    [
      'calls and their results, with thoughts left out',
      {
        tools: [TOOL],
        messages: [
          HI,
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Hm.', signature: 's' },
              { type: 'redacted_thinking', data: 'x' },
              { type: 'text', text: 'Let me see.' },
              CALL,
              { ...CALL, id: 'call_2' },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'call_1', content: 'Rain.', is_error: false },
              {
                type: 'tool_result',
                tool_use_id: 'call_2',
                content: [{ type: 'text', text: 'None.' }],
                is_error: true,
              },
              { type: 'text', text: 'And now?' },
            ],
          },
        ],
      },
      {
        tools: [FUNCTION],
        messages: [
          HI,
          { role: 'assistant', content: 'Let me see.', tool_calls: [CALLED, { ...CALLED, id: 'call_2' }] },
          { role: 'tool', tool_call_id: 'call_1', content: 'Rain.' },
          { role: 'tool', tool_call_id: 'call_2', content: 'Error: None.' },
          { role: 'user', content: 'And now?' },
        ],
      },
    ],
    [
      'pictures of results in one message of the user behind them',
      {
        tools: [TOOL],
        messages: [
          HI,
          { role: 'assistant', content: [CALL] },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'See:' }, PICTURE] },
            ],
          },
        ],
      },
      {
        tools: [FUNCTION],
        messages: [
          HI,
          { role: 'assistant', content: null, tool_calls: [CALLED] },
          { role: 'tool', tool_call_id: 'call_1', content: 'See:' },
          { role: 'user', content: [{ type: 'text', text: 'Of the result of call_1:' }, PICTURE_PART] },
        ],
      },
    ],
    [
      'a turn of thoughts alone into none',
      {
        messages: [HI, { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: '' }] }, HI],
      },
      { messages: [HI, HI] },
    ],
    [
      'a tool that must be called, alone',
      { tools: [TOOL], tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true } },
      {
        messages: [HI],
        tools: [FUNCTION],
        tool_choice: { type: 'function', function: { name: 'weather' } },
        parallel_tool_calls: false,
      },
    ],
    [
      'any tool',
      { tools: [TOOL], tool_choice: { type: 'any' } },
      { messages: [HI], tools: [FUNCTION], tool_choice: 'required' },
    ],
    ['a choice without tools into none', { tool_choice: { type: 'auto' } }, { messages: [HI] }],
    [
      'limits of the answer',
      { stop_sequences: ['#'], temperature: 0.5, top_p: 0.9, top_k: 5 },
      { messages: [HI], stop: ['#'], temperature: 0.5, top_p: 0.9 },
    ],
    [
      'thinking with an effort',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
      { messages: [HI], reasoning_effort: 'high' },
    ],
    [
      'a budget of thought',
      { thinking: { type: 'enabled', budget_tokens: 8000 } },
      { messages: [HI], reasoning_effort: 'medium' },
    ],
    ['no thinking', { thinking: { type: 'disabled' }, output_config: { effort: 'low' } }, { messages: [HI] }],
    [
      'a schema of the answer',
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      {
        messages: [HI],
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
        },
      },
    ],
    [
      'what says nothing to others, dropped',
      {
        context_management: { edits: [] },
        metadata: { user_id: 'u' },
        service_tier: 'auto',
        speed: 'fast',
        container: null,
        unheard_of: { a: 1 },
      },
      { messages: [HI] },
    ],
  ];
  for (const [what, sent, chat] of cases) test(what, () => assert.deepEqual(chatOf(sent), chat));

  test('with every number as it was written', () => {
    const text =
      '{"model":"m","max_tokens":100,"temperature":1.0,"messages":[{"role":"user","content":"Hi"},' +
      '{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{"n":12345678901234567890}}]},' +
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}';
    const { value, exact } = parseJson(text);
    const { chat } = toChat(parseWith(messagesSchema, value), exact() as JsonObject);
    const written = JSON.stringify(chat.body);
    assert.ok(written.includes('"temperature":1.0'));
    assert.ok(written.includes('{\\"n\\":12345678901234567890}'), written);
  });
});

describe('what chat cannot say is refused by name, and still priced', () => {
  const inTurn = (block: JsonValue) => ({ messages: [{ role: 'user', content: [block] }] });
  for (const [what, more, field] of [
    [
      'a tool of the vendor',
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      /"tools\[0\]".*web_search_20250305/,
    ],
    ['servers', { mcp_servers: [{ type: 'url', url: 'https://x.test', name: 'x' }] }, /"mcp_servers"/],
    ['a prefill', { messages: [HI, { role: 'assistant', content: '{' }] }, /"messages\[1\]\.role"/],
    [
      'a file',
      inTurn({ type: 'document', source: { type: 'file', file_id: 'f' } }),
      /"messages\[0\]\.content\[0\]\.source\.type"/,
    ],
    ['a block that is not known', inTurn({ type: 'hologram' }), /"messages\[0\]\.content\[0\]".*hologram/],
    ['a block that is no object', inTurn(7), /"messages\[0\]\.content\[0\]"/],
    ['an effort that there is not', { output_config: { effort: 'constructor' } }, /output_config\.effort/],
    ['a choice that there is not', { tools: [TOOL], tool_choice: { type: 'toString' } }, /tool_choice\.type/],
    ['a tool that must be called where there is none', { tool_choice: { type: 'any' } }, /tool_choice/],
    ['a format that is no schema', { output_config: { format: { type: 'xml' } } }, /output_config\.format/],
  ] as const satisfies readonly (readonly [string, JsonObject, RegExp])[]) {
    test(what, () => {
      const { chat, refusal } = translated(more);
      assert.match(refusal?.message ?? '', field);
      assert.equal(chat.maxOutputTokens, 100);
      assert.ok(chat.messages.length > 0);
    });
  }
});

const SETTLED: Settled = {
  tokens: { inputTokens: 5, cachedTokens: 20, outputTokens: 3, reasoningTokens: 4, estimated: false },
  charged: 1_500_000n,
};
const USAGE = {
  input_tokens: 5,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 20,
  output_tokens: 7,
  output_tokens_details: { thinking_tokens: 4 },
  credits: 1.5,
};
const IDS = { id: 'msg_1', model: 'm' };

describe('a completion becomes a message', () => {
  const messageOf = (message: JsonObject, finish_reason: string | null) =>
    toMessage({ choices: [{ index: 0, message, finish_reason }] }, IDS, SETTLED);

  test('with thoughts, text and calls as blocks, and the four counts', () => {
    const message = {
      role: 'assistant',
      content: 'See.',
      reasoning_content: 'Hm.',
      tool_calls: [
        CALLED,
        { function: { name: 'b', arguments: '' } },
        { id: 'c', function: { name: 'c', arguments: '[' } },
      ],
    };
    const { content, ...rest } = messageOf(message, 'stop');
    const [thought, text, first, second, third, ...none] = content as JsonObject[];
    assert.deepEqual(thought, { type: 'thinking', thinking: 'Hm.', signature: UNSIGNED_MARK });
    assert.deepEqual([text, first], [{ type: 'text', text: 'See.' }, CALL]);
    assert.match(JSON.stringify(second?.id), /^"toolu_/);
    assert.deepEqual([second?.input, third?.input, none], [{}, { arguments: '[' }, []]);
    assert.deepEqual(rest, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: USAGE,
    });
  });

  for (const [finish, calls, reason] of [
    ['stop', [], 'end_turn'],
    ['length', [], 'max_tokens'],
    ['length', [CALLED], 'max_tokens'],
    ['tool_calls', [CALLED], 'tool_use'],
    ['stop', [CALLED], 'tool_use'],
    ['content_filter', [], 'refusal'],
    [null, [], 'end_turn'],
  ] as const) {
    test(`${finish} with ${calls.length} calls is ${reason}`, () => {
      assert.equal(messageOf({ content: 'a', tool_calls: [...calls] }, finish).stop_reason, reason);
    });
  }
});

describe('chunks become events', () => {
  function eventsOf(...deltas: readonly (JsonObject | string)[]): JsonObject[] {
    const writer = new MessagesWriter({ ids: IDS, inputTokens: 9, requestId: 'req_1' });
    const text = deltas
      .map((delta) =>
        typeof delta === 'string'
          ? { choices: [{ index: 0, delta: {}, finish_reason: delta }] }
          : { choices: [{ index: 0, delta, finish_reason: null }] },
      )
      .map((body) => writer.write({ body, usage: undefined }))
      .join('');
    const events = (text + writer.end(SETTLED)).trimEnd().split('\n\n');
    return events.map((event) => {
      const [, name, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      assert.equal(JSON.parse(data).type, name);
      return JSON.parse(data);
    });
  }
  const start = (index: number, content_block: JsonObject) => ({ type: 'content_block_start', index, content_block });
  const piece = (index: number, delta: JsonObject) => ({ type: 'content_block_delta', index, delta });
  const stop = (index: number) => ({ type: 'content_block_stop', index });
  const call = (index: number, fields: JsonObject, more: JsonObject = {}) => ({
    tool_calls: [{ index, ...more, function: fields }],
  });

  test('one block after the other, each whole, with the final counts at the end', () => {
    const events = eventsOf(
      { role: 'assistant', content: '' },
      { reasoning_content: 'Hm' },
      { reasoning_content: '.' },
      { content: 'See "it".' },
      call(0, { name: 'a', arguments: '' }, { id: 'call_1' }),
      call(0, { arguments: '{"x":' }),
      call(0, { arguments: '1}' }),
      call(1, { name: 'b', arguments: '' }, { id: 'call_2' }),
      'tool_calls',
    );
    const [first, ...rest] = events;
    assert.deepEqual(first, {
      type: 'message_start',
      message: {
        ...IDS,
        type: 'message',
        role: 'assistant',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 9, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
      },
    });
    assert.deepEqual(rest, [
      start(0, { type: 'thinking', thinking: '', signature: '' }),
      piece(0, { type: 'thinking_delta', thinking: 'Hm' }),
      piece(0, { type: 'thinking_delta', thinking: '.' }),
      piece(0, { type: 'signature_delta', signature: UNSIGNED_MARK }),
      stop(0),
      start(1, { type: 'text', text: '' }),
      piece(1, { type: 'text_delta', text: 'See "it".' }),
      stop(1),
      start(2, { type: 'tool_use', id: 'call_1', name: 'a', input: {} }),
      piece(2, { type: 'input_json_delta', partial_json: '{"x":' }),
      piece(2, { type: 'input_json_delta', partial_json: '1}' }),
      stop(2),
      start(3, { type: 'tool_use', id: 'call_2', name: 'b', input: {} }),
      piece(3, { type: 'input_json_delta', partial_json: '{}' }),
      stop(3),
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: USAGE },
      { type: 'message_stop' },
    ]);
  });

  test('an answer of nothing is a message without blocks', () => {
    assert.deepEqual(
      eventsOf('stop').map(({ type }) => type),
      ['message_start', 'message_delta', 'message_stop'],
    );
  });

  test('text that a vendor has written already is an event of text', () => {
    const writer = new MessagesWriter({ ids: IDS, inputTokens: 9, requestId: 'req_1' });
    const text = writer.write({ body: {}, written: { choices: '[]', content: 'a\u2028"b' }, usage: undefined });
    assert.ok(text.endsWith('"delta":{"type":"text_delta","text":"a\u2028\\"b"}}\n\n'), text);
  });

  test('pieces of two calls that are mixed are a fault of the upstream', () => {
    const named = (index: number) => call(index, { name: 'a', arguments: '{' }, { id: `call_${index}` });
    assert.throws(() => eventsOf(named(0), named(1), call(0, { arguments: '}' })), UpstreamError);
  });

  test('a failure is an event of its own shape', () => {
    const writer = new MessagesWriter({ ids: IDS, inputTokens: 9, requestId: 'req_1' });
    const [, data = ''] = /^event: error\ndata: (.*)\n\n$/.exec(writer.fail(errorEnvelope('upstream_failed'))) ?? [];
    const { type, error, request_id } = JSON.parse(data);
    assert.deepEqual([type, error.type, error.code, request_id], ['error', 'api_error', 'upstream_failed', 'req_1']);
  });
});

describe('what an upstream that speaks the format is sent', () => {
  const sentFor = (content: JsonValue) => {
    const exact = { model: 'm', max_tokens: 9, messages: [HI, { role: 'assistant', content }, HI] };
    const parsed = toChat(parseWith(messagesSchema, exact), exact);
    const bytes = Buffer.from(JSON.stringify(exact));
    return { request: messagesFormat(parsed, { exact, bytes, headers: {} }, 'req_1').passThrough?.request('u'), bytes };
  };
  const signed = { type: 'thinking', thinking: 'Hm.', signature: 'of the vendor' };
  const text = { type: 'text', text: 'So.' };

  test('is to the byte where every thought is signed', () => {
    const { request, bytes } = sentFor([signed, text]);
    assert.equal(request?.bytes, bytes);
  });

  for (const [what, signature] of [
    ['nobody', ''],
    ['us', UNSIGNED_MARK],
  ] as const) {
    test(`has no thoughts signed by ${what}, nor a turn of nothing else`, () => {
      const foreign = { ...signed, signature };
      const mixed = sentFor([foreign, signed, text]).request;
      assert.equal(mixed?.bytes, undefined);
      assert.deepEqual(mixed?.body.messages, [HI, { role: 'assistant', content: [signed, text] }, HI]);
      assert.deepEqual(sentFor([foreign]).request?.body.messages, [HI, HI]);
    });
  }
});
