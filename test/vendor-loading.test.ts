import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { DocumentError } from '../src/configuration/index.ts';
import { AnthropicEmulator } from '../src/vendors/anthropic/emulator.ts';
import { smallPng } from '../src/vendors/fal/emulator/files.ts';
import { type ListedVendor, Vendors, vendors } from '../src/vendors/index.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { AcmeEmulator } from './support/acme/emulator.ts';
import { acme } from './support/acme/index.ts';
import { type Fields, sandbox } from './support/documents.ts';
import { ADMIN_TOKEN, Gateway } from './support/gateway.ts';
import { chatBody, paidCaller, tokenModel } from './support/paid-calls.ts';
import { until, workFolder } from './support/postgres.ts';
import { ownDatabase, type Program } from './support/program.ts';
import { startRecorded } from './support/recorded-program.ts';
import { IMAGES, imageModel } from './support/studio.ts';

const KEY = 'key-of-the-operator';
const CHAT = '/v1/chat/completions';

/** A module of a vendor, or of a format, besides its terms. */
const WORK_MODULE = /\/(?:vendors|packages)\/(?:formats\/)?(?!kit\/|formats\/)([\w-]+)\/(?!index\.ts$|terms\.ts$)/;

/** As `acme`, from a module that throws. */
const broken: ListedVendor = { ...acme, load: () => import('./support/broken-vendor.ts') };
const REFUSED =
  'vendor acme cannot be loaded: its signing library is not installed; mend the installation with "npm ci --omit=dev" where the program lies, and start it again';

test('a process loads the vendors of its file, those of a new configuration before it answers, and none for a request', async (t) => {
  const ofFile = { id: 'drawing', vendor: 'bfl', base_url: 'https://upstream.test', api_key: KEY };
  const { program, loadedVendors } = await startConfigured(t, { upstreams: [ofFile], models: [] });
  assert.deepEqual(loadedVendors(), ['bfl']);
  const openai = await started(t, new OpenAiEmulator({ apiKey: KEY, models: ['wire-name'] }));
  const first = { id: 'first', vendor: 'openai', base_url: openai.url, api_key: KEY };
  await apply(program, [first]);
  const openaiFormats = ['chat-completions', 'openai-media'];
  assert.deepEqual(loadedVendors(), ['bfl', 'openai', ...openaiFormats].sort());
  const anthropic = await started(t, new AnthropicEmulator({ apiKey: KEY }));
  await apply(program, [first, { id: 'second', vendor: 'anthropic', base_url: anthropic.url, api_key: KEY }]);
  assert.deepEqual(loadedVendors(), ['anthropic', 'messages', 'bfl', 'openai', ...openaiFormats].sort());
  const modules = loadedVendors.modules();
  const key = await paidKey(program);
  for (const model of ['talk/first', 'talk/second']) {
    const answer = await program.call('POST', CHAT, { key, body: chatBody(model) });
    assert.equal(answer.status, 200, answer.text);
  }
  assert.deepEqual(loadedVendors.modules(), modules);
});

async function started<Server extends { start(): Promise<unknown>; stop(): Promise<void> }>(
  t: TestContext,
  server: Server,
): Promise<Server> {
  await server.start();
  t.after(() => server.stop());
  return server;
}

/** The program with this configuration as its file, and a list of the vendors whose work it has loaded by now. */
async function startConfigured(t: TestContext, document: object) {
  const file = join(workFolder(t), 'tollgate.json');
  writeFileSync(file, JSON.stringify(document));
  const { program, modules: all } = await startRecorded(t, { ...(await ownDatabase(t)), TOLLGATE_CONFIG: file });
  const modules = () => all().filter((url) => /\/(?:src\/vendors|packages\/sandbox)\//.test(url));
  const namesOfWork = () => modules().flatMap((url) => WORK_MODULE.exec(url)?.slice(1) ?? []);
  const names = () => [...new Set(namesOfWork())].sort();
  return { program, loadedVendors: Object.assign(names, { modules }) };
}

async function apply(program: Program, upstreams: readonly { readonly id: string }[]): Promise<void> {
  const models = upstreams.map(({ id }) => tokenModel(`talk/${id}`, [id]));
  const answer = await program.call('PUT', '/api/admin/config', { key: ADMIN_TOKEN, body: { upstreams, models } });
  assert.equal(answer.status, 200, answer.text);
}

async function paidKey(program: Program): Promise<string> {
  const admin = async (path: string, body: object) => {
    const answer = await program.call('POST', `/api/admin/accounts${path}`, { key: ADMIN_TOKEN, body });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  const { id } = await admin('', { name: 'Test' });
  await admin(`/${id}/grants`, { credits: 1000 });
  return (await admin(`/${id}/keys`, { name: 'test' })).key;
}

describe('a configuration that adds a vendor', () => {
  const emulator = new AcmeEmulator(KEY, smallPng());
  let first: Gateway;
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  before(async () => {
    await emulator.start();
    first = await Gateway.start({ vendors: [...vendors, acme] });
  });
  after(async () => {
    await first.stop();
    await emulator.stop();
  });

  /** Another process of the same deployment. */
  function peer(vendor: ListedVendor): Promise<Gateway> {
    return Gateway.start({ vendors: [...vendors, vendor], database: first.database, clock: first.clock, log });
  }

  function documents() {
    const [upstreams, models] = [[sandbox('offline')], [tokenModel('talk/offline', ['offline'])]];
    const added = { id: 'acme', vendor: 'acme', base_url: emulator.url, api_key: KEY };
    const sketch = imageModel('studio/sketch', [{ upstream: 'acme', model: 'sketch' }]);
    return { old: { upstreams, models }, next: { upstreams: [...upstreams, added], models: [...models, sketch] } };
  }

  async function statusOf(at: Gateway, key: string, model: string): Promise<number> {
    return (await at.call('GET', `/v1/models/${model}`, { key })).status;
  }

  test('is in force in a process once the vendor is loaded, and no request fails meanwhile', async () => {
    const { old, next } = documents();
    await first.putConfig(old);
    const { key } = await paidCaller(first, 1_000_000);
    const goOn = Promise.withResolvers<void>();
    let isLoading = false;
    const load = async () => {
      isLoading = true;
      await goOn.promise;
      return acme.load();
    };
    const second = await peer({ ...acme, load });
    let isOver = false;
    let answered = 0;
    const ask = async (at: Gateway) => {
      while (!isOver) {
        const answer = await at.call('POST', CHAT, { key, body: chatBody('talk/offline') });
        assert.equal(answer.status, 200, answer.text);
        answered += 1;
      }
    };
    const callers = Promise.all([first, second, first, second].map(ask));
    try {
      const applied = first.putConfig(next);
      await Promise.race([until(() => isLoading), callers]);
      const before = answered;
      await Promise.race([until(() => answered > before + 20), callers]);
      assert.equal(await statusOf(second, key, 'studio/sketch'), 404);
      goOn.resolve();
      await applied;
      await until(async () => (await statusOf(second, key, 'studio/sketch')) === 200);
      for (const at of [first, second]) {
        const made = await at.call('POST', IMAGES, { key, body: { model: 'studio/sketch', prompt: 'a gate' } });
        assert.equal(made.status, 202, made.text);
      }
    } finally {
      goOn.resolve();
      isOver = true;
      await callers;
      await second.stop();
    }
    await first.assertBooksBalance();
  });

  test('is refused in words where the vendor cannot be loaded, by the check too, and changes nothing', async () => {
    const { old, next } = documents();
    await first.putConfig(old);
    const second = await peer(broken);
    try {
      const refused = await second.admin('PUT', '/config', next);
      assert.deepEqual([refused.status, refused.json.error.code], [400, 'invalid_config'], refused.text);
      assert.ok(refused.text.includes(JSON.stringify(REFUSED).slice(1, -1)), refused.text);
      const { valid, problems } = (await second.admin('POST', '/config/check', next)).json;
      assert.equal(valid, false);
      const found = problems.map(({ path, problem }: Fields) => ({ path, problem }));
      assert.deepEqual(found, [{ path: 'upstreams[1].vendor', problem: REFUSED }]);
      assert.equal((await second.admin('GET', '/config')).json.upstreams.length, 1);
    } finally {
      await second.stop();
    }
  });

  test('leaves the old one in force in a process that cannot load the vendor, and a start under it is refused', async () => {
    const { old, next } = documents();
    await first.putConfig(old);
    const { key } = await paidCaller(first);
    const second = await peer(broken);
    try {
      lines.length = 0;
      await first.putConfig(next);
      await until(() => lines.some((line) => line.includes('the previous one stays in force')));
      assert.ok(lines.some((line) => line.includes('its signing library is not installed')));
      assert.equal(await statusOf(second, key, 'studio/sketch'), 404);
      const answer = await second.call('POST', CHAT, { key, body: chatBody('talk/offline') });
      assert.equal(answer.status, 200, answer.text);
    } finally {
      await second.stop();
    }
    await assert.rejects(peer(broken), (error) => error instanceof DocumentError && error.message.includes(REFUSED));
  });
});

test('overlapping loads give one vendor, and one that is not listed is passed over', async () => {
  const process = new Vendors([acme]);
  assert.equal(process.find('acme'), undefined);
  const loads = await Promise.all([process.load(['acme', 'of-a-newer-release']), process.load(['acme', 'acme'])]);
  const vendor = process.find('acme');
  assert.ok(vendor?.image);
  assert.deepEqual(
    loads.concat(await process.load(['acme'])).map(({ size }) => size),
    [0, 0, 0],
  );
  assert.equal(process.find('acme'), vendor);
});
