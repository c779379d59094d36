import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import OpenAI from 'openai';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import type { Fields } from './support/documents.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { eventsIn, moneyOf, paidCaller, spentInTheEnd, tokenModel } from './support/paid-calls.ts';

// The responses format at upstreams that speak it themselves, beside one that only chats.

const MARK = 'zq7xkw3mplq';
const speakers = [new OpenAiEmulator({ marker: `${MARK}-a` }), new OpenAiEmulator({ marker: `${MARK}-b` })] as const;
const [speaker, other] = speakers;
const chatter = new OpenAiEmulator({ marker: `${MARK}-c`, isLenient: true });
let gateway: Gateway;
let caller: NewCaller;
before(async () => {
  await Promise.all([...speakers, chatter].map((each) => each.start()));
  gateway = await Gateway.start();
});
after(async () => {
  await gateway.stop();
  await Promise.all([...speakers, chatter].map((each) => each.stop()));
});
let round = 0;
beforeEach(async () => {
  round += 1;
  const upstream = (name: string, { url }: OpenAiEmulator, priority: number, dialect?: string) => ({
    id: `${name}-${round}`,
    vendor: 'openai',
    base_url: url,
    priority,
    ...(dialect !== undefined && { dialect }),
  });
  await gateway.putConfig({
    upstreams: [
      upstream('speaker', speaker, 9, 'openai'),
      upstream('other', other, 9, 'openai'),
      upstream('chatter', chatter, 1),
    ],
    models: [
      tokenModel('model', [`speaker-${round}`, `chatter-${round}`]),
      tokenModel('elsewhere', [`other-${round}`]),
    ],
  });
  caller = await paidCaller(gateway);
  for (const { requests } of [...speakers, chatter]) requests.length = 0;
});
afterEach(() => gateway.assertBooksBalance());

function ask(more: Fields = {}): Promise<Answer> {
  return gateway.call('POST', '/v1/responses', { key: caller.key, body: { model: 'model', input: 'Hi', ...more } });
}

function sentTo({ requests }: OpenAiEmulator): { path: string; body: Fields } {
  const { path = '', bytes } = requests.at(-1) ?? {};
  return { path, body: JSON.parse(bytes?.toString('utf8') ?? '{}') };
}

test('what the caller sent goes on, without what is refused there, and nothing tells which upstream answered', async () => {
  speaker.script({ kind: 'answer', text: 'Good day.' }, { kind: 'answer', text: 'Good day.' });
  const asked = {
    instructions: 'Be brief.',
    metadata: { a: 'b' },
    client_metadata: { x: 'y' },
    tools: [{ type: 'web_search' }, { type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'f' }] }],
  };
  const whole = await ask(asked);
  assert.equal(whole.status, 200, whole.text);
  const { path, body } = sentTo(speaker);
  assert.equal(path, '/v1/responses');
  assert.deepEqual(body, {
    model: 'wire-name',
    input: 'Hi',
    store: false,
    instructions: 'Be brief.',
    metadata: { a: 'b' },
    tools: [asked.tools[1]],
  });
  const streamed = await ask({ ...asked, stream: true });
  const events = eventsIn(streamed.text);
  const last = events.at(-1);
  assert.equal(last.type, 'response.completed');
  assert.deepEqual(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_, at) => at),
  );
  for (const { model, output, usage, status } of [whole.json, last.response]) {
    assert.deepEqual([model, status, output[0].content[0].text], ['model', 'completed', 'Good day.']);
    assert.deepEqual([usage.input_tokens, usage.output_tokens, usage.credits], [9, 3, 0.021]);
  }
  assert.equal((await moneyOf(gateway, caller)).spent, 0.042);
  assert.ok(events.every((event) => [undefined, last.response.output[0].id].includes(event.item_id)));
  for (const { text, headers } of [whole, streamed]) assert.ok(!(text + JSON.stringify(headers)).includes(MARK), text);
});

test('an upstream that fails is made good by one that only chats, under one hold', async () => {
  for (const stream of [false, true]) {
    speaker.script({ kind: 'error', error: 'broken' });
    chatter.script({ kind: 'answer', text: 'From chat.' });
    const { status, text } = await ask({ stream });
    assert.equal(status, 200, text);
    assert.match(text, /From|chat\./);
    assert.equal(sentTo(chatter).path, '/v1/chat/completions');
  }
  const { json } = await gateway.call('GET', '/v1/credits/transactions?limit=100', { key: caller.key });
  // The grant, and for each call a hold and its end.
  assert.equal(json.data.length, 1 + 2 * 2);
});

test('a stream that the upstream fails or cuts ends as failed, and costs what it brought', async () => {
  const event = (type: string, fields: Fields) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const response = { id: `resp_${MARK}`, object: 'response', status: 'in_progress', output: [] };
  const item = { id: `msg_${MARK}`, type: 'message', role: 'assistant', content: [] };
  const begun = [
    event('response.created', { response }),
    event('response.output_item.added', { output_index: 0, item }),
    event('response.output_text.delta', { item_id: item.id, output_index: 0, content_index: 0, delta: 'One' }),
  ];
  const error = { code: 'server_error', message: `${MARK} is broken` };
  const failed = event('response.failed', { response: { ...response, status: 'failed', error } });
  for (const [frames, end] of [
    [[...begun, failed], 'close'],
    [[...begun, event('error', { code: 'server_error', message: MARK })], 'close'],
    [begun, 'reset'],
    [begun, 'close'],
  ] as const) {
    const before = await spentInTheEnd(gateway, caller);
    speaker.script({ kind: 'frames', frames, end });
    const { text } = await ask({ stream: true });
    const last = eventsIn(text).at(-1);
    assert.deepEqual([last.type, last.response.error.code], ['response.failed', 'upstream_failed'], text);
    assert.ok(text.includes('"One"') && !text.includes(MARK), text);
    assert.ok((await spentInTheEnd(gateway, caller)) > before);
    gateway.clock.advance(3600);
  }
});

test('thoughts go back to the upstream that had them, and are dropped for any other', async () => {
  const include = ['reasoning.encrypted_content'];
  speaker.script({ kind: 'answer', text: 'Yes.', reasoning: 'Hm.' });
  const { json, text } = await ask({ include, store: false });
  assert.ok(!text.includes('gAAAA'), text);
  const input = [...json.output, { role: 'user', content: 'Sure?' }];
  const types = (body: Fields) => (body.input as Fields[]).map(({ type, role }) => type ?? role);
  const again = await ask({ input, include, store: false });
  assert.equal(again.status, 200, again.text);
  assert.deepEqual(types(sentTo(speaker).body), ['reasoning', 'message', 'user']);
  const moved = await ask({ model: 'elsewhere', input, include, store: false });
  assert.equal(moved.status, 200, moved.text);
  assert.deepEqual(types(sentTo(other).body), ['message', 'user']);
  const forged = [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'QUJD' }, ...input.slice(1)];
  assert.equal((await ask({ input: forged })).status, 200);
});

test('a reference is put in its place before it reaches an upstream that does not know it', async () => {
  const { json } = await ask();
  const { status, text } = await ask({
    input: [
      { type: 'item_reference', id: json.output[0].id },
      { role: 'user', content: 'So?' },
    ],
  });
  assert.equal(status, 200, text);
  const [item] = sentTo(speaker).body.input as Fields[];
  assert.deepEqual([item?.type, item?.id], ['message', undefined]);
});

test('the vendor’s own library takes the emulator for the vendor, and its refusals', async () => {
  const client = new OpenAI({ baseURL: speaker.url, apiKey: 'sk', maxRetries: 0 });
  speaker.script({ kind: 'answer', text: 'Good day.' }, { kind: 'answer', text: 'Good day.' });
  const model = 'gpt-x';
  assert.equal((await client.responses.create({ model, input: 'Hi' })).output_text, 'Good day.');
  assert.equal((await client.responses.stream({ model, input: 'Hi' }).finalResponse()).output_text, 'Good day.');
  const odd = { model, input: 'Hi', client_metadata: {} };
  await assert.rejects(client.responses.create(odd), OpenAI.BadRequestError);
});
