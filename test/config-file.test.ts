import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Environment } from '../src/config.ts';
import { DocumentError } from '../src/configuration/index.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import { imageModel, keyed, sandbox, type WrittenDocument } from './support/documents.ts';
import { ADMIN_TOKEN, Gateway } from './support/gateway.ts';
import { atEnd, until, workFolder } from './support/postgres.ts';
import { ownDatabase, Program } from './support/program.ts';
import { keysInForce, ROOT_SECRET } from './support/stored-secrets.ts';

function selling(...names: string[]): WrittenDocument {
  return { upstreams: [sandbox('home')], models: names.map((name) => imageModel(name, ['home'])) };
}

/** A database and a configuration file that outlive the gateways started on them. */
class Site {
  readonly database: TestDatabase;
  readonly #t: TestContext;
  readonly #path: string;

  private constructor(t: TestContext, database: TestDatabase) {
    this.#t = t;
    this.database = database;
    this.#path = join(workFolder(t), 'gate.yaml');
  }

  static async make(t: TestContext): Promise<Site> {
    const database = await createDatabase();
    atEnd(t, () => database.drop());
    return new Site(t, database);
  }

  write(document: unknown): void {
    writeFileSync(this.#path, typeof document === 'string' ? document : JSON.stringify(document));
  }

  /** A start with this file as it is now, or without any. */
  async start(options: { file?: boolean; settings?: Environment; environment?: Environment } = {}): Promise<Gateway> {
    const file = options.file === false ? {} : { TOLLGATE_CONFIG: this.#path };
    const settings = { TOLLGATE_SECRET: ROOT_SECRET, ...file, ...options.settings };
    const { environment = {} } = options;
    const gateway = await Gateway.start({ database: this.database, settings, environment });
    atEnd(this.#t, async () => {
      await gateway.assertBooksBalance();
      await gateway.stop();
    });
    return gateway;
  }
}

async function sold(gateway: Gateway): Promise<string[]> {
  const { json } = await gateway.call('GET', '/api/hub/public/models');
  return json.data.map(({ name }: { name: string }) => name);
}

async function sources(gateway: Gateway): Promise<string[]> {
  const { data } = (await gateway.admin('GET', '/config/versions')).json;
  return data.map(({ source }: { source: string }) => source);
}

test('the file is applied at the first start, and recorded as such', async (t) => {
  const site = await Site.make(t);
  site.write(selling('from-file'));
  const gateway = await site.start();
  assert.deepEqual(await sold(gateway), ['from-file']);
  assert.deepEqual(await sources(gateway), ['file']);
});

test('what the operator changed stays in force over a restart while the file is the same', async (t) => {
  const site = await Site.make(t);
  site.write(selling('from-file'));
  await (await site.start()).putConfig(selling('by-operator'));
  const restarted = await site.start();
  assert.deepEqual(await sold(restarted), ['by-operator']);
  assert.deepEqual(await sources(restarted), ['operator', 'file']);
});

test('a file that only looks different is the same file', async (t) => {
  const site = await Site.make(t);
  site.write(selling('from-file'));
  await (await site.start()).putConfig(selling('by-operator'));
  site.write(`# a comment\n${JSON.stringify(selling('from-file'), null, 2)}`);
  assert.deepEqual(await sold(await site.start()), ['by-operator']);
});

test('a file that changed replaces what the operator had put in force', async (t) => {
  const site = await Site.make(t);
  site.write(selling('from-file'));
  await (await site.start()).putConfig(selling('by-operator'));
  site.write(selling('from-file-again'));
  assert.deepEqual(await sold(await site.start()), ['from-file-again']);
});

test('a file that went back to what it was before is a changed file', async (t) => {
  const site = await Site.make(t);
  for (const name of ['one', 'two', 'one']) {
    site.write(selling(name));
    assert.deepEqual(await sold(await site.start()), [name]);
  }
});

test('a file that caught up with the operator is known at the next start, and later changes stay', async (t) => {
  const site = await Site.make(t);
  site.write(selling('one'));
  await (await site.start()).putConfig(selling('two'));
  site.write(selling('two'));
  await (await site.start()).putConfig(selling('three'));
  assert.deepEqual(await sold(await site.start()), ['three']);
});

test('a start with a file that is not valid is refused with every problem, and nothing changes', async (t) => {
  const site = await Site.make(t);
  site.write(selling('standing'));
  const gateway = await site.start();
  site.write({ upstreams: [{ id: 'a', vendor: 'nobody' }], models: [imageModel('m', ['b'])] });
  await assert.rejects(site.start(), (error) => {
    assert.ok(error instanceof DocumentError);
    assert.match(error.message, /upstreams\[0\]\.vendor[\s\S]*models\[0\]\.routes\[0\]\.upstream/);
    return true;
  });
  assert.deepEqual(await sold(gateway), ['standing']);
  assert.deepEqual(await sources(gateway), ['file']);
});

test('a key that changed in the environment is taken up at the next start', async (t) => {
  const site = await Site.make(t);
  site.write({ upstreams: [keyed('u', `\${UPSTREAM_KEY}`)], models: [] });
  await site.start({ environment: { UPSTREAM_KEY: 'old-key' } });
  assert.deepEqual(await keysInForce(site.database), { u: 'old-key' });
  await site.start({ environment: { UPSTREAM_KEY: 'new-key' } });
  assert.deepEqual(await keysInForce(site.database), { u: 'new-key' });
});

test('the built-in catalogue serves where there is no file, and is applied once', async (t) => {
  const site = await Site.make(t);
  assert.ok((await sold(await site.start({ file: false }))).includes('sandbox/image'));
  assert.deepEqual(await sources(await site.start({ file: false })), ['built-in']);
});

test('the built-in catalogue never replaces what an operator or a file has put in force', async (t) => {
  const site = await Site.make(t);
  await (await site.start({ file: false })).putConfig(selling('by-operator'));
  assert.deepEqual(await sold(await site.start({ file: false })), ['by-operator']);
  site.write(selling('from-file'));
  await site.start();
  assert.deepEqual(await sold(await site.start({ file: false })), ['from-file']);
});

test('the built-in catalogue never replaces an upstream that the operator has switched off in it', async (t) => {
  const site = await Site.make(t);
  await (await site.start({ file: false })).admin('PATCH', '/upstreams/sandbox', { enabled: false });
  assert.deepEqual(await sold(await site.start({ file: false })), []);
});

test('in production nothing is sold until somebody says what', async (t) => {
  const site = await Site.make(t);
  const gateway = await site.start({ file: false, settings: { NODE_ENV: 'production' } });
  assert.deepEqual(await sold(gateway), []);
  await gateway.putConfig(selling('by-operator'));
  assert.deepEqual(await sold(gateway), ['by-operator']);
});

test('applying the file again takes up what changed in it, and leaves the operator’s changes when nothing did', async (t) => {
  const site = await Site.make(t);
  site.write(selling('one'));
  const gateway = await site.start();
  site.write(selling('two'));
  await gateway.reapplyFile();
  assert.deepEqual(await sold(gateway), ['two']);
  await gateway.putConfig(selling('by-operator'));
  await gateway.reapplyFile();
  assert.deepEqual(await sold(gateway), ['by-operator']);
});

const BROKEN_FILES: readonly (readonly [told: string, text: string])[] = [
  ['is not valid', 'upstreams: [{ id: a }]\nmodels: []'],
  ['is not YAML', 'upstreams: ['],
  ['takes a key that is not set', JSON.stringify({ upstreams: [keyed('u', `\${NOT_SET}`)], models: [] })],
  ['keeps a key that is not there', JSON.stringify({ upstreams: [keyed('u', '********')], models: [] })],
];

for (const [told, text] of BROKEN_FILES) {
  test(`applying a file again that ${told} is refused, and what is in force stays`, async (t) => {
    const site = await Site.make(t);
    site.write(selling('standing'));
    const gateway = await site.start();
    site.write(text);
    await assert.rejects(gateway.reapplyFile(), DocumentError);
    assert.deepEqual(await sold(gateway), ['standing']);
    assert.deepEqual(await sources(gateway), ['file']);
  });
}

test('SIGHUP applies the file again, and a file that is not valid stops nothing', async (t) => {
  const path = join(workFolder(t), 'gate.yaml');
  writeFileSync(path, JSON.stringify(selling('one')));
  const program = await Program.start(t, { ...(await ownDatabase(t)), TOLLGATE_CONFIG: path });
  const sells = async (name: string) =>
    (await program.get('/api/admin/config', ADMIN_TOKEN)).json.models[0]?.id === name;
  writeFileSync(path, JSON.stringify(selling('two')));
  program.child.kill('SIGHUP');
  await until(() => sells('two'));
  writeFileSync(path, 'upstreams: [{ id: a }]\nmodels: []');
  program.child.kill('SIGHUP');
  await until(() => program.logged.some((line) => line.includes('was not applied') && line.includes('upstreams[0]')));
  assert.ok(await sells('two'));
  writeFileSync(path, JSON.stringify(selling('three')));
  program.child.kill('SIGHUP');
  await until(() => sells('three'));
});

test('R-526: a start with another root secret than the stored keys were sealed with is told in one sentence', async (t) => {
  const settings = await ownDatabase(t);
  const program = await Program.start(t, settings);
  const document = { upstreams: [keyed('u', 'sealed-key')], models: [] };
  const put = await program.call('PUT', '/api/admin/config', { key: ADMIN_TOKEN, body: document });
  assert.equal(put.status, 200, put.text);
  await program.kill('SIGTERM');
  const another = 'another-root-secret-of-32-characters-or-more';
  for (const mode of ['development', 'production']) {
    const told = await Program.refusal(t, { ...settings, TOLLGATE_SECRET: another, NODE_ENV: mode });
    assert.match(
      told,
      /sealed with another TOLLGATE_SECRET\. Start with that one, or name it in TOLLGATE_SECRET_PREVIOUS\.\n$/,
    );
    assert.doesNotMatch(told, /^\s+at /m, 'no stack');
    assert.ok(!told.includes(another));
  }
  const restored = await Program.start(t, settings);
  assert.equal((await restored.get('/api/admin/upstreams', ADMIN_TOKEN)).json.data[0].has_secret, true);
});
