import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { AnthropicEmulator } from '../src/vendors/anthropic/emulator.ts';
import { BflEmulator } from '../src/vendors/bfl/emulator.ts';
import { NO_RESULTS } from '../src/vendors/emulator/contract.ts';
import { FalEmulator } from '../src/vendors/fal/emulator.ts';
import { GeminiEmulator } from '../src/vendors/gemini/emulator.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { type Fields, imageModel, sandbox } from './support/documents.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import { newOperator } from './support/people.ts';
import { vendorContracts } from './support/vendor-contracts.ts';

const KEY = 'the-right-key-of-the-upstream';
const emulators = {
  openai: new OpenAiEmulator({ apiKey: KEY }),
  anthropic: new AnthropicEmulator({ apiKey: KEY }),
  gemini: new GeminiEmulator({ apiKey: KEY }),
  fal: new FalEmulator({ apiKey: KEY }),
  bfl: new BflEmulator(KEY, Buffer.alloc(0)),
};
const checks = [...vendorContracts].flatMap(([vendor, { credential, emulator }]) =>
  credential === undefined ? [] : [{ vendor, ...credential, server: emulator(KEY, NO_RESULTS) }],
);
const servers = [...Object.values(emulators), ...checks.map(({ server }) => server)];
type VendorName = keyof typeof emulators;

let gateway: Gateway;
before(async () => {
  for (const server of servers) await server.start();
  gateway = await Gateway.start();
});
after(async () => {
  await gateway.stop();
  for (const server of servers) await server.stop();
});
afterEach(() => gateway.assertBooksBalance());

const upstream = (vendor: VendorName, fields: Fields = {}): Fields => ({
  id: vendor,
  vendor,
  base_url: emulators[vendor].url,
  api_key: KEY,
  ...fields,
});
const chatModel = (vendor: string): Fields => ({
  ...imageModel('some/chat', [vendor], { modality: 'chat', endpoints: ['chat'] }),
  pricing: { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 1 } },
});
const ask = (id: string): Promise<Answer> => gateway.admin('POST', `/upstreams/${id}/test`);

/** Everything that a test must leave as it was. */
async function state(): Promise<unknown> {
  const upstreams = (await gateway.admin('GET', '/upstreams')).json.data;
  return [upstreams, (await gateway.admin('GET', '/audit?limit=1')).json.data];
}

for (const vendor of ['openai', 'anthropic', 'gemini'] as const) {
  test(`R-524: an upstream of ${vendor} with a chat model is asked for one token, and nothing else happens`, async () => {
    await gateway.putConfig({ upstreams: [upstream(vendor)], models: [chatModel(vendor)] });
    const { requests } = emulators[vendor];
    const [before, earlier] = [await state(), requests.length];
    const { json } = await ask(vendor);
    const { duration_ms, calls, ...rest } = json;
    const said = {
      ok: true,
      what: 'a chat call of one token to wire-name',
      status: 200,
      code: null,
      problem: null,
      message: null,
      detail: null,
    };
    assert.deepEqual(rest, { object: 'upstream_test', upstream_id: vendor, ...said });
    assert.deepEqual(calls, [{ kind: 'chat', duration_ms, ...said }]);
    assert.ok(Number.isInteger(duration_ms));
    assert.equal(requests.length, earlier + 1);
    assert.match(requests.at(-1)?.bytes.toString() ?? '', /"max_?(completion_|output)?tokens":1\b/i);
    assert.deepEqual(await state(), before);
  });
}

for (const { vendor, what, request, server } of checks) {
  test(`R-524: an upstream of ${vendor} without a chat model is asked for ${what}`, async () => {
    const checked = { id: vendor, vendor, base_url: server.url, api_key: KEY };
    await gateway.putConfig({ upstreams: [checked], models: [] });
    const { json } = await ask(vendor);
    assert.deepEqual([json.ok, json.what, json.status, json.code], [true, what, 200, null], JSON.stringify(json));
    const last = server.requests.at(-1);
    assert.equal(`${last?.method} ${last?.path}`, request);
  });
}

for (const { vendor, server } of checks) {
  test(`R-524: a wrong key at ${vendor} is told as such, without the key, and opens no breaker`, async () => {
    const mistaken = { id: vendor, vendor, base_url: server.url, api_key: 'a-wrong-key-0123456789' };
    await gateway.putConfig({ upstreams: [mistaken], models: [] });
    const before = await state();
    const answer = await ask(vendor);
    const { ok, status, code, detail } = answer.json;
    assert.deepEqual([ok, status, code], [false, 401, 'account'], answer.text);
    assert.match(detail, /^status 401/);
    assert.doesNotMatch(answer.text, /a-wrong-key/);
    assert.deepEqual(await state(), before);
  });
}

test('R-524: an upstream that repeats its key in a refusal has it taken out of the answer', async () => {
  await gateway.putConfig({ upstreams: [upstream('openai')], models: [chatModel('openai')] });
  emulators.openai.script({ kind: 'raw', status: 403, body: `{"error": {"message": "the key ${KEY} is blocked"}}` });
  const answer = await ask('openai');
  assert.equal(answer.json.ok, false, answer.text);
  assert.doesNotMatch(answer.text, new RegExp(KEY));
});

for (const vendor of ['fal', 'bfl'] as const) {
  test(`R-524: of ${vendor}, which offers nothing to ask without charge, only the connection is tested, and it says so`, async () => {
    await gateway.putConfig({ upstreams: [upstream(vendor)], models: [] });
    const earlier = emulators[vendor].requests.length;
    const { json } = await ask(vendor);
    assert.deepEqual(
      [json.ok, json.what, json.status],
      [true, 'a connection; the credential was not checked', null],
      JSON.stringify(json),
    );
    assert.equal(emulators[vendor].requests.length, earlier);
  });
}

test('R-524: an upstream that is not there is told as such', async () => {
  const gone = new OpenAiEmulator();
  await gone.start();
  const base_url = gone.url;
  await gone.stop();
  for (const fields of [
    { vendor: 'openai', base_url },
    { vendor: 'fal', base_url: new URL(base_url).origin },
  ]) {
    await gateway.putConfig({ upstreams: [{ id: 'gone', api_key: KEY, ...fields }], models: [] });
    const { json } = await ask('gone');
    assert.deepEqual([json.ok, json.status, json.code], [false, null, 'connection'], JSON.stringify(json));
  }
});

test('R-524: a disabled upstream can be tested too, what runs inside needs none, and what is none is not found', async () => {
  await gateway.putConfig({ upstreams: [upstream('openai', { enabled: false }), sandbox('home')], models: [] });
  assert.equal((await ask('openai')).json.ok, true);
  const { ok, what } = (await ask('home')).json;
  assert.deepEqual([ok, what], [true, 'nothing: it runs inside the gateway']);
  assert.equal((await ask('none')).json.error.code, 'upstream_not_found');
});

test('R-525: an auditor sees upstreams with their dialect and tests none', async () => {
  await gateway.putConfig({ upstreams: [upstream('openai', { dialect: 'groq' }), sandbox('home')], models: [] });
  const { headers } = await newOperator(gateway, 'auditor');
  const list = await gateway.call('GET', '/api/admin/upstreams', { headers });
  assert.deepEqual(
    list.json.data.map(({ dialect }: Fields) => dialect),
    ['groq', null],
  );
  const refused = await gateway.call('POST', '/api/admin/upstreams/openai/test', { headers });
  assert.deepEqual([refused.status, refused.json.error.code], [403, 'insufficient_role']);
});
