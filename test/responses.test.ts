import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import type { Fields } from './support/documents.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { rowsOf } from './support/keeping.ts';
import { chatBody, eventsIn, OpenStream, paidCaller, tokenModel } from './support/paid-calls.ts';
import { RawConnection } from './support/raw-http.ts';

// The responses format over an upstream that speaks chat.

const PATH = '/v1/responses';
const upstream = new OpenAiEmulator();
let gateway: Gateway;
let caller: NewCaller;
before(async () => {
  await upstream.start();
  gateway = await Gateway.start();
  await gateway.putConfig({
    upstreams: [{ id: 'vendor', vendor: 'openai', base_url: upstream.url }],
    models: [tokenModel('model', ['vendor'])],
  });
});
after(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(async () => {
  caller = await paidCaller(gateway);
  upstream.requests.length = 0;
});
afterEach(() => gateway.assertBooksBalance());

function ask(more: Fields = {}, { key }: NewCaller = caller): Promise<Answer> {
  return gateway.call('POST', PATH, { key, body: { model: 'model', input: 'Hi', ...more } });
}

/** What the upstream was sent last. */
function sentBody() {
  return JSON.parse(upstream.requests.at(-1)?.bytes.toString('utf8') ?? '{}');
}

async function eventsOf(more: Fields = {}) {
  const answer = await ask({ stream: true, ...more });
  assert.equal(answer.status, 200, answer.text);
  const events = eventsIn(answer.text);
  assert.deepEqual(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_, at) => at),
  );
  return events;
}

const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type.replace(/^response\./, ''));
const TEXT = ['content_part.added', 'output_text.delta', 'output_text.delta', 'output_text.done', 'content_part.done'];
const ITEM = (...inner: string[]) => ['output_item.added', ...inner, 'output_item.done'];

test('a stream has every event in its order, numbered without gaps', async () => {
  upstream.script({ kind: 'answer', text: 'Good day.' });
  const events = await eventsOf();
  assert.deepEqual(typesOf(events), ['created', 'in_progress', ...ITEM(...TEXT), 'completed']);
  const { response } = events.at(-1);
  const { id, model, status, error, incomplete_details, output, usage } = response;
  const itemId: string = response.output[0].id;
  assert.match(id, /^resp_/);
  assert.deepEqual([model, status, error, incomplete_details], ['model', 'completed', null, null]);
  assert.deepEqual(output, [
    {
      id: itemId,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Good day.', annotations: [], logprobs: [] }],
    },
  ]);
  assert.deepEqual(usage, {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 12,
    credits: usage.credits,
  });

  assert.ok(events.every(({ response: told }) => told === undefined || told.id === id));
  assert.ok(events.every((event) => (event.item_id ?? itemId) === itemId));
  assert.deepEqual(
    [events[0].response.status, events[0].response.output, events[0].response.usage],
    ['in_progress', [], null],
  );
});

test('thoughts, text and calls are items of their own, each closed before the next', async () => {
  const toolCalls = [
    { id: 'call_a', name: 'weather', arguments: '{"city": "Bern"}' },
    { id: 'call_b', name: 'weather', arguments: '{"city": "Oslo"}' },
  ];
  const told = { kind: 'answer', text: 'Well then.', reasoning: 'Let me see.', toolCalls } as const;
  upstream.script(told, told);
  const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object' } }];
  const events = await eventsOf({ tools });
  const thought = ['reasoning_summary_part.added', ...Array(3).fill('reasoning_summary_text.delta')];
  const call = ITEM(...Array(2).fill('function_call_arguments.delta'), 'function_call_arguments.done');
  assert.deepEqual(typesOf(events), [
    ...['created', 'in_progress'],
    ...ITEM(...thought, 'reasoning_summary_text.done', 'reasoning_summary_part.done'),
    ...ITEM(...TEXT),
    ...call,
    ...call,
    'completed',
  ]);
  const shape = (output: readonly Fields[]) => output.map((item) => ({ ...item, id: undefined }));
  const { output } = events.at(-1).response;
  assert.deepEqual(shape(output), [
    { id: undefined, type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me see.' }] },
    {
      id: undefined,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Well then.', annotations: [], logprobs: [] }],
    },
    ...toolCalls.map(({ id, ...made }) => ({
      id: undefined,
      type: 'function_call',
      status: 'completed',
      call_id: id,
      ...made,
    })),
  ]);
  const done = events.filter(({ type }) => type === 'response.output_item.done');
  assert.deepEqual(
    done.map(({ item }) => item),
    output,
  );
  assert.deepEqual(
    done.map(({ output_index }) => output_index),
    [0, 1, 2, 3],
  );
  // The vendor's whole answer has no text beside calls.
  assert.deepEqual(shape((await ask({ tools })).json.output), [shape(output)[0], ...shape(output).slice(2)]);
});

for (const [finishReason, reason] of [
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
] as const) {
  test(`an answer that ended by ${finishReason} is incomplete, whole and streamed`, async () => {
    upstream.script({ kind: 'answer', finishReason }, { kind: 'answer', finishReason });
    const { json } = await ask();
    const events = await eventsOf();
    assert.equal(events.at(-1).type, 'response.incomplete');
    for (const { status, incomplete_details, output } of [json, events.at(-1).response]) {
      assert.deepEqual([status, incomplete_details, output[0].status], ['incomplete', { reason }, 'incomplete']);
    }
  });
}

test('a stream that breaks off says so with what it brought, and costs that', async () => {
  const choices = [{ index: 0, delta: { role: 'assistant', content: 'One' }, finish_reason: null }];
  upstream.script({ kind: 'frames', frames: [{ id: 'x', choices }], end: 'reset' });
  const events = await eventsOf();
  const { type, response } = events.at(-1);
  assert.deepEqual([type, response.status, response.error.code], ['response.failed', 'failed', 'upstream_failed']);
  assert.deepEqual([response.output[0].status, response.output[0].content[0].text], ['incomplete', 'One']);
  assert.ok(response.usage.credits > 0);
  assert.equal((await gateway.call('GET', '/v1/credits', { key: caller.key })).json.spent, response.usage.credits);
});

test('the same text costs the same in chat and in this format, to the micro-credit', async () => {
  const told = { kind: 'answer', usage: { prompt_tokens: 77, completion_tokens: 13 } } as const;
  const untold = { kind: 'answer', usage: null } as const;
  for (const script of [told, untold]) {
    upstream.script(script, script, script, script);
    const chat = await gateway.call('POST', '/v1/chat/completions', { key: caller.key, body: chatBody('model') });
    const [chunk] = (
      await gateway.call('POST', '/v1/chat/completions', {
        key: caller.key,
        body: chatBody('model', { stream: true, stream_options: { include_usage: true } }),
      })
    ).text
      .split('\n\n')
      .filter((frame) => frame.includes('"credits"'));
    const { json } = await ask();
    const events = await eventsOf();
    assert.equal(json.usage.credits, chat.json.usage.credits);
    assert.equal(events.at(-1).response.usage.credits, JSON.parse(chunk?.slice(6) ?? '').usage.credits);
    assert.equal(json.usage.estimated, chat.json.usage.estimated);
  }
});

describe('tools', () => {
  const inner = { type: 'function', name: 'generate_image', parameters: { type: 'object' } };
  const tools = [
    { type: 'namespace', name: 'mcp__tg', description: 'Pictures', tools: [inner] },
    { type: 'web_search', external_web_access: false },
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Patches',
      format: { type: 'grammar', syntax: 'lark', definition: 'x' },
    },
    { type: 'function', name: 'shell', parameters: { type: 'object' }, strict: false },
  ];

  test('of a namespace are flat upstream and split on the way back', async () => {
    const toolCalls = [{ id: 'call_1', name: 'mcp__tg__generate_image', arguments: '{}' }];
    upstream.script({ kind: 'answer', toolCalls }, { kind: 'answer', toolCalls });
    const { json } = await ask({ tools });
    assert.deepEqual(
      sentBody().tools.map(({ function: { name } }: { function: { name: string } }) => name),
      ['mcp__tg__generate_image', 'apply_patch', 'shell'],
    );
    const events = await eventsOf({ tools });
    for (const { output } of [json, events.at(-1).response]) {
      const { id: _, ...call } = output[0];
      assert.deepEqual(call, {
        type: 'function_call',
        status: 'completed',
        call_id: 'call_1',
        name: 'generate_image',
        namespace: 'mcp__tg',
        arguments: '{}',
      });
    }
    const outcome = { type: 'function_call_output', call_id: 'call_1', output: 'Done' };
    await ask({ tools, input: [{ role: 'user', content: 'Draw' }, json.output[0], outcome] });
    assert.equal(sentBody().messages[1].tool_calls[0].function.name, 'mcp__tg__generate_image');
  });

  test('with a name too long for chat are told apart and come back whole', async () => {
    const long = ['a', 'b'].map((end) => ({ ...inner, name: `${'x'.repeat(60)}${end}` }));
    const asked = { tools: [{ type: 'namespace', name: 'mcp__server', tools: long }] };
    await ask(asked);
    const names: string[] = sentBody().tools.map(({ function: { name } }: { function: { name: string } }) => name);
    assert.equal(new Set(names).size, 2);
    assert.ok(names.every((name) => name.length <= 64));
    upstream.script({ kind: 'answer', toolCalls: [{ id: 'call_1', name: names[1] ?? '', arguments: '{}' }] });
    const { output } = (await ask(asked)).json;
    assert.deepEqual([output[0].namespace, output[0].name], ['mcp__server', long[1]?.name]);
  });

  test('that take a text get it out of the one argument', async () => {
    const toolCalls = [{ id: 'call_1', name: 'apply_patch', arguments: '{"input":"*** Begin"}' }];
    upstream.script({ kind: 'answer', toolCalls }, { kind: 'answer', toolCalls });
    const { json } = await ask({ tools });
    const events = await eventsOf({ tools });
    assert.deepEqual(typesOf(events).slice(2, -1), ITEM('custom_tool_call_input.delta', 'custom_tool_call_input.done'));
    for (const { output } of [json, events.at(-1).response]) {
      assert.deepEqual(
        [output[0].type, output[0].name, output[0].input],
        ['custom_tool_call', 'apply_patch', '*** Begin'],
      );
    }
    const outcome = { type: 'custom_tool_call_output', call_id: 'call_1', output: 'Done' };
    await ask({ tools, input: [{ role: 'user', content: 'Go' }, json.output[0], outcome] });
    assert.equal(sentBody().messages[1].tool_calls[0].function.arguments, '{"input":"*** Begin"}');
    assert.deepEqual(sentBody().messages[2], { role: 'tool', tool_call_id: 'call_1', content: 'Done' });
  });

  test('can be chosen, and narrowed to some of them', async () => {
    await ask({ tools, tool_choice: { type: 'function', name: 'shell' } });
    assert.deepEqual(sentBody().tool_choice, { type: 'function', function: { name: 'shell' } });
    const allowed = [{ type: 'function', name: 'shell' }];
    await ask({ tools, tool_choice: { type: 'allowed_tools', mode: 'required', tools: allowed } });
    assert.deepEqual([sentBody().tool_choice, sentBody().tools.length], ['required', 1]);
    const { status, json } = await ask({ tools, tool_choice: { type: 'web_search' } });
    assert.deepEqual([status, json.error.code, json.error.param], [400, 'unsupported_parameter', 'tool_choice']);
  });
});

test('pictures in the output of a call follow it in a message of the user', async () => {
  const picture = 'data:image/png;base64,QUJD';
  const output = [
    { type: 'input_text', text: 'Here' },
    { type: 'input_image', image_url: picture },
  ];
  const calls = ['1', '2'].map((call_id) => ({ type: 'function_call', call_id, name: 'draw', arguments: '{}' }));
  const outputs = ['1', '2'].map((call_id) => ({ type: 'function_call_output', call_id, output }));
  await ask({ input: [{ role: 'user', content: 'Draw' }, ...calls, ...outputs] });
  const { messages } = sentBody();
  assert.deepEqual(
    messages.map(({ role }: { role: string }) => role),
    ['user', 'assistant', 'tool', 'tool', 'user'],
  );
  assert.equal(messages[1].tool_calls.length, 2);
  assert.match(messages[2].content, /^Here\n/);
  assert.deepEqual(messages[4].content[1], { type: 'image_url', image_url: { url: picture } });
});

test('fields are translated, and what changes no answer is ignored', async () => {
  const schema = { type: 'object', properties: {}, additionalProperties: false };
  const { status, json, text } = await ask({
    instructions: 'Be brief.',
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Rules' }] },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Hi' },
          { type: 'input_image', image_url: 'https://a.test/x.png', detail: 'low' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed elsewhere' },
    ],
    max_output_tokens: 50,
    temperature: 0.5,
    text: { format: { type: 'json_schema', name: 'place', schema, strict: true }, verbosity: 'low' },
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    metadata: { a: 'b' },
    truncation: 'auto',
    stream_options: { include_obfuscation: false },
    client_metadata: { x: 'y' },
    prompt_cache_key: 'key',
    something_new: 1,
  });
  assert.equal(status, 200, text);
  assert.deepEqual(sentBody(), {
    model: 'wire-name',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: 'Rules' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: 'https://a.test/x.png', detail: 'low' } },
        ],
      },
    ],
    max_completion_tokens: 50,
    temperature: 0.5,
    prompt_cache_key: 'key',
    response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
    reasoning_effort: 'low',
    verbosity: 'low',
  });
  assert.deepEqual([json.instructions, json.metadata, json.temperature], ['Be brief.', { a: 'b' }, 0.5]);
});

for (const [field, value] of [
  ['previous_response_id', 'resp_1'],
  ['conversation', 'conv_1'],
  ['prompt', { id: 'pmpt_1' }],
  ['background', true],
  ['input[0].type', undefined],
] as const) {
  test(`"${field}" is refused by name and reaches no upstream`, async () => {
    const more = value === undefined ? { input: [{ type: 'web_search_call', id: 'ws_1' }] } : { [field]: value };
    const { status, json } = await ask(more);
    assert.deepEqual([status, json.error.code, json.error.param], [400, 'unsupported_parameter', field]);
    assert.equal(upstream.requests.length, 0);
  });
}

for (const input of [undefined, '', [], 7]) {
  test(`an input of ${JSON.stringify(input)} is none`, async () => {
    const { status, json } = await ask({ input });
    assert.deepEqual([status, json.error.code], [400, 'missing_input']);
  });
}

describe('items', () => {
  const reference = (id: string) => ({
    input: [
      { type: 'item_reference', id },
      { role: 'user', content: 'And?' },
    ],
  });

  test('are found by their ids in the very next request, whole and streamed', async () => {
    upstream.script({ kind: 'answer', text: 'First.' });
    const { json } = await ask();
    assert.equal((await ask(reference(json.output[0].id))).status, 200);
    assert.deepEqual(sentBody().messages[0], { role: 'assistant', content: 'First.' });
    upstream.script({ kind: 'answer', text: 'Second.' });
    await using stream = await OpenStream.open(gateway, PATH, {
      key: caller.key,
      body: { model: 'model', input: 'Hi', stream: true },
    });
    const [last] = eventsIn(await stream.until('"response.completed"')).slice(-1);
    assert.equal((await ask(reference(last.response.output[0].id))).status, 200);
    assert.deepEqual(sentBody().messages[0], { role: 'assistant', content: 'Second.' });
  });

  test('of another account, that were not to be stored, and that never were are not found', async () => {
    const { json } = await ask();
    const unstored = (await ask({ store: false })).json;
    const other = await paidCaller(gateway);
    for (const answer of [
      await ask(reference(json.output[0].id), other),
      await ask(reference(unstored.output[0].id)),
      await ask(reference('msg_none')),
    ]) {
      assert.deepEqual(
        [answer.status, answer.json.error.code, answer.json.error.param],
        [400, 'item_not_found', 'input[0].id'],
      );
    }
  });

  test('are gone after a day, and their rows with them', async () => {
    const { json } = await ask();
    const { id } = json.output[0];
    gateway.clock.advance(24 * 3600 + 1);
    assert.equal((await ask(reference(id))).json.error.code, 'item_not_found');
    // A process runs every duty when it starts.
    const { database, clock } = gateway;
    await (await Gateway.start({ database, clock })).stop();
    assert.deepEqual(await rowsOf(gateway, `select id from response_items where id = '${id}'`), []);
  });
});

test('a WebSocket is refused with 426 and nothing else, and other paths are not found', async () => {
  using connection = await RawConnection.open(gateway.url);
  await connection.send(
    'GET /v1/responses HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  const { status, text } = await connection.answer();
  assert.deepEqual([status, text], [426, '']);
  for (const [method, path] of [
    ['GET', '/v1/responses'],
    ['GET', '/v1/responses/resp_1'],
    ['DELETE', '/v1/responses/resp_1'],
    ['POST', '/v1/responses/resp_1/cancel'],
    ['POST', '/v1/responses/compact'],
    ['POST', '/v1/responses/input_tokens'],
  ] as const) {
    const answer = await gateway.call(method, path, { key: caller.key });
    assert.deepEqual([answer.status, answer.json.error.code], [404, 'not_found'], path);
  }
});
