import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { Gateway, type NewCaller } from './support/gateway.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

async function callerWith(credits: number, key: Record<string, unknown> = {}): Promise<NewCaller> {
  const caller = await gateway.newCaller({ key });
  if (credits > 0) await gateway.admin('POST', `/accounts/${caller.accountId}/grants`, { credits });
  return caller;
}

const MESSAGES = [{ role: 'user', content: 'Hello' }];

/** A body that costs more than what the callers below have, at each route that holds credits at once. */
const CALLS = [
  ['chat', '/v1/chat/completions', { model: 'sandbox/chat', messages: MESSAGES, max_tokens: 4000 }],
  ['native', '/v1beta/models/sandbox%2Fnative:generateContent', { contents: [{ parts: [{ text: 'Hello' }] }] }],
  ['audio_speech', '/v1/audio/speech', { model: 'sandbox/speech', input: 'word '.repeat(1000) }],
  ['images', '/v1/images/generations', { model: 'sandbox/image', prompt: 'x', n: 10 }],
  ['videos', '/v1/videos', { model: 'sandbox/video', prompt: 'x', seconds: 10 }],
  ['audio_music', '/v1/audio/music', { model: 'sandbox/music', prompt: 'x', duration_seconds: 60 }],
] as const;

async function neededFor(caller: NewCaller, endpoint: string, body: object): Promise<number> {
  const asked = { model: 'sandbox/native', ...body, endpoint };
  const { json, text } = await gateway.call('POST', '/v1/estimate', { key: caller.key, body: asked });
  assert.equal(typeof json.credits, 'number', text);
  return json.credits;
}

async function refusal(caller: NewCaller, path: string, body: object): Promise<string> {
  const { status, json, text, headers } = await gateway.call('POST', path, { key: caller.key, body });
  assert.deepEqual([status, json?.error.code, headers['x-should-retry']], [402, 'insufficient_credits', 'false'], text);
  assert.equal(json.error.param, null);
  return json.error.message;
}

for (const [endpoint, path, body] of CALLS) {
  test(`R-060: ${endpoint} says what is needed and what is available`, async () => {
    const caller = await callerWith(1.25);
    const needed = await neededFor(caller, endpoint, body);
    const message = await refusal(caller, path, body);
    const told = `The balance does not cover this request: ${needed} credits are needed and 1.25 are available.`;
    assert.ok(message.startsWith(told), message);
  });

  test(`R-060: ${endpoint} says that it is the key's limit that is too low, and what is left of it`, async () => {
    const caller = await callerWith(1000, { credit_limit: 0.5 });
    const needed = await neededFor(caller, endpoint, body);
    const message = await refusal(caller, path, body);
    const amounts = `${needed} credits are needed and 0.5 are left of the limit.`;
    assert.ok(message.startsWith(`The credit limit of this key does not cover this request: ${amounts}`), message);
  });
}

test('chat and native say what decides the hold, the others nothing', async () => {
  const caller = await callerWith(0);
  for (const [endpoint, path, body] of CALLS) {
    const [, decidedBy] = (await refusal(caller, path, body)).split('available.');
    const expected = { chat: /"max_tokens".*max_output_tokens/, native: /maxOutputTokens".*max_output_tokens/ };
    assert.match(decidedBy ?? '', endpoint === 'chat' || endpoint === 'native' ? expected[endpoint] : /^$/, endpoint);
  }
});

test('what a key has spent is gone from its limit', async () => {
  const caller = await callerWith(1000, { credit_limit: 15 });
  const image = { model: 'sandbox/image', prompt: 'x' };
  assert.equal((await gateway.call('POST', '/v1/images/generations', { key: caller.key, body: image })).status, 202);
  assert.match(await refusal(caller, '/v1/images/generations', image), /10 credits are needed and 5 are left/);
});

test('of many at once each is told the balance that refused it', async () => {
  const caller = await callerWith(25, { rpm: 1000, concurrency: 100 });
  const body = { model: 'sandbox/image', prompt: 'x' };
  const ask = () => gateway.call('POST', '/v1/images/generations', { key: caller.key, body });
  const answers = await Promise.all(Array.from({ length: 20 }, ask));
  const refused = answers.filter(({ status }) => status === 402);
  assert.deepEqual([answers.filter(({ status }) => status === 202).length, refused.length], [2, 18]);
  for (const { json } of refused) assert.match(json.error.message, /10 credits are needed and 5 are available\.$/);
});

test('what was charged before is gone from the balance', async () => {
  const caller = await callerWith(20);
  const chat = { model: 'sandbox/chat', messages: MESSAGES, max_tokens: 10 };
  const first = await gateway.call('POST', '/v1/chat/completions', { key: caller.key, body: chat });
  assert.equal(first.status, 200);
  const { json } = await gateway.call('GET', '/v1/credits', { key: caller.key });
  const large = { model: 'sandbox/image', prompt: 'x', n: 10 };
  const message = await refusal(caller, '/v1/images/generations', large);
  assert.ok(message.endsWith(`100 credits are needed and ${json.available} are available.`), message);
});
