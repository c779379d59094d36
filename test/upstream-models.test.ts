import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { UPSTREAM_MODEL_PAGES_MAX } from '../src/limits.ts';
import { AnthropicEmulator } from '../src/vendors/anthropic/emulator.ts';
import { BflEmulator } from '../src/vendors/bfl/emulator.ts';
import { ElevenLabsEmulator } from '../src/vendors/elevenlabs/emulator.ts';
import { ScriptedServer } from '../src/vendors/emulator/scripted-server.ts';
import { GeminiEmulator } from '../src/vendors/gemini/emulator.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { type Fields, imageModel } from './support/documents.ts';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { captureLog } from './support/leaks.ts';
import { newOperator } from './support/people.ts';
import { until } from './support/postgres.ts';

const KEY = 'the-right-key-of-the-upstream';
const MODELS = ['c-model', 'a-model', 'e-model', 'b-model', 'd-model'];
const emulators = {
  openai: new OpenAiEmulator({ apiKey: KEY, models: MODELS }),
  anthropic: new AnthropicEmulator({ apiKey: KEY, models: MODELS }),
  gemini: new GeminiEmulator({ apiKey: KEY, models: MODELS }),
  elevenlabs: new ElevenLabsEmulator({ apiKey: KEY, models: MODELS }),
  bfl: new BflEmulator(KEY, Buffer.alloc(0)),
};
type VendorName = keyof typeof emulators;

let gateway: Gateway;
before(async () => {
  for (const emulator of Object.values(emulators)) await emulator.start();
  gateway = await Gateway.start();
});
after(async () => {
  await gateway.stop();
  for (const emulator of Object.values(emulators)) await emulator.stop();
});

const PER_TOKEN = { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 1 } };
const CHAT = { modality: 'chat', endpoints: ['chat'], pricing: PER_TOKEN };
const routed = (id: string, upstream: string, ...names: string[]): Fields => ({
  ...imageModel(id, [], CHAT),
  routes: names.map((model) => ({ upstream, model })),
});

async function ask(upstream: Fields, models: readonly Fields[] = []): Promise<Answer> {
  await gateway.putConfig({ upstreams: [upstream], models });
  return gateway.admin('GET', `/upstreams/${String(upstream.id)}/models`);
}

const upstream = (vendor: VendorName, fields: Fields = {}): Fields => {
  return { id: vendor, vendor, base_url: emulators[vendor].url, api_key: KEY, ...fields };
};

for (const [vendor, calls] of [
  ['openai', 1],
  ['anthropic', 3],
  ['gemini', 3],
  ['elevenlabs', 1],
] as const) {
  test(`R-524: an upstream of ${vendor} lists what it offers, page by page, and what of it is used`, async () => {
    const earlier = emulators[vendor].requests.length;
    const isSpeech = vendor === 'elevenlabs';
    const models = isSpeech
      ? []
      : [routed('house/one', vendor, 'b-model', 'gone'), routed('house/two', vendor, 'b-model')];
    const { json, text } = await ask(upstream(vendor), models);
    const used = isSpeech ? [] : ['house/one', 'house/two'];
    const data = [...MODELS].sort().map((id) => ({ id, used_by: id === 'b-model' ? used : [] }));
    const unlisted = isSpeech ? [] : ['gone'];
    const nothing = { status: null, code: null, problem: null, message: null, detail: null };
    const said = { object: 'upstream_models', upstream_id: vendor, can_tell: true, ...nothing };
    assert.deepEqual(json, { ...said, data, unlisted, has_more: false }, text);
    assert.equal(emulators[vendor].requests.length, earlier + calls);
  });

  test(`R-524: a wrong key at ${vendor} is told as such, in place of a list`, async () => {
    const { json, text } = await ask(upstream(vendor, { api_key: 'a-wrong-key-0123456789' }));
    assert.deepEqual([json.can_tell, json.problem, json.data], [true, 'bad_key', []], text);
    assert.match(json.message, /refuses the credential/);
    assert.doesNotMatch(text, /a-wrong-key/);
  });
}

test('R-524: a vendor that cannot say what it offers is told in a sentence', async () => {
  const { json, text } = await ask(upstream('bfl'));
  assert.deepEqual([json.can_tell, json.problem, json.data], [false, null, []], text);
  assert.match(json.message, /has no call that lists models/);
});

async function listing(answer: (path: string) => string): Promise<Answer> {
  const server = new ScriptedServer(async ({ path }) => {
    return { status: 200, headers: { 'content-type': 'application/json' }, body: answer(path) };
  });
  await server.start();
  try {
    return await ask({ id: 'own', vendor: 'anthropic', base_url: server.url, api_key: KEY });
  } finally {
    await server.stop();
  }
}

test('R-524: a list without an end is read up to a bound, and says that there is more', async () => {
  let pages = 0;
  const { json } = await listing(() => {
    const id = `model-${++pages}`;
    return JSON.stringify({ data: [{ id }], has_more: true, last_id: id });
  });
  assert.equal(pages, UPSTREAM_MODEL_PAGES_MAX);
  assert.deepEqual([json.data.length, json.has_more, json.unlisted], [UPSTREAM_MODEL_PAGES_MAX, true, []]);
});

for (const body of ['not JSON', '{"models": 1}', '{"data": {}}', '"data"']) {
  test(`R-524: ${body} in place of a list is told as broken`, async () => {
    const { json, text } = await listing(() => body);
    assert.deepEqual([json.problem, json.code], ['broken', 'garbled'], text);
  });
}

// The reason of a signal is an error whose message cannot be assigned, only defined.
test('R-524: a list that was given up because it did not come is a timeout, not an error of the gateway', async () => {
  const silent = new ScriptedServer(() => new Promise(() => undefined));
  const captured = captureLog();
  const own = await Gateway.start({ log: captured.log });
  await silent.start();
  try {
    await own.putConfig({ upstreams: [upstream('openai', { base_url: `${silent.url}/v1` })], models: [] });
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const left = request(`${own.url}/api/admin/upstreams/openai/models`, { headers, signal: leaving.signal });
    await until(() => silent.requests.length > 0);
    leaving.abort();
    await assert.rejects(left);
    await until(() => captured.text().includes('an upstream did not list its models'));
    assert.doesNotMatch(captured.text(), /unexpected error/);
  } finally {
    await own.stop();
    await silent.stop();
  }
});

test('R-524: what is no upstream is not found, and no caller sees the list', async () => {
  await gateway.putConfig({ upstreams: [upstream('openai')], models: [] });
  const none = await gateway.admin('GET', '/upstreams/none/models');
  assert.equal(none.json.error.code, 'upstream_not_found');
  const { headers } = await newOperator(gateway, 'auditor');
  const list = await gateway.call('GET', '/api/admin/upstreams/openai/models', { headers });
  assert.deepEqual([list.status, list.json.data.length], [200, MODELS.length]);
});
