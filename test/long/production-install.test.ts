import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { type Component, componentsOf } from '../../scripts/components.ts';
import { OpenAiEmulator } from '../../src/vendors/openai/emulator.ts';
import { ADMIN_TOKEN } from '../support/gateway.ts';
import { IS_ROOT, NOBODY, start, workFolder } from '../support/postgres.ts';
import { ownDatabase, Program, V8_FLAGS } from '../support/program.ts';

// The command of docs/operating.md in a copy of the tree, with the Node and npm that a machine brings.

const OF_THE_PROGRAM = [
  'bin',
  'deploy',
  'migrations',
  'packages',
  'scripts',
  'src',
  'package.json',
  'package-lock.json',
  '.npmrc',
];
const COMMAND = /`(npm ci [^`]*--no-workspaces[^`]*)`/.exec(readFileSync('docs/operating.md', 'utf8'))?.[1] ?? '';
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.endsWith(join('node_modules', '.bin')))
  .join(delimiter);

const root = mkdtempSync(join(tmpdir(), 'tollgate production '));
const emulator = new OpenAiEmulator();

before(async () => {
  for (const name of OF_THE_PROGRAM) cpSync(name, join(root, name), { recursive: true });
  await promisify(execFile)('sh', ['-c', COMMAND], { cwd: root, env: { ...process.env, PATH } });
  await emulator.start();
});

after(async () => {
  await emulator.stop();
  rmSync(root, { recursive: true, force: true });
});

function dependenciesOf(folder: string): string[] {
  const { dependencies, optionalDependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.keys({ ...dependencies, ...optionalDependencies });
}

function isInstalled(name: string): boolean {
  return existsSync(join(root, 'node_modules', name));
}

/** A configuration file with one upstream. */
function configured(name: string, upstream: string): string {
  const file = join(root, `${name}.yaml`);
  const pricing = '{ mode: per_token, credits: { input_per_k: 1, output_per_k: 4 } }';
  const model = `id: chat, modality: chat, owned_by: us, endpoints: [chat], pricing: ${pricing}`;
  const routes = '[{ upstream: only, model: small }]';
  writeFileSync(file, `upstreams: [{ id: only, ${upstream} }]\nmodels: [{ ${model}, routes: ${routes} }]\n`);
  return file;
}

const toOpenAi = () => configured('openai', `vendor: openai, base_url: "${emulator.url}", api_key: key-of-the-test`);

async function settingsOf(t: TestContext, file: string): Promise<Record<string, string>> {
  return { ...(await ownDatabase(t)), PATH, TOLLGATE_DATA: join(root, 'data'), TOLLGATE_CONFIG: file };
}

const LAUNCHER = ['node', join(root, 'bin', 'tollgate.mjs')];

test('a production install has what the gateway imports, a Node, and nothing that only the two packages need', () => {
  const own = new Set(dependenciesOf('.'));
  const left = ['sandbox', 'embedded-postgres'].flatMap((name) => dependenciesOf(`packages/${name}`));
  const foreign = left.filter((name) => !own.has(name));
  assert.ok(foreign.length >= 20);
  assert.deepEqual(foreign.filter(isInstalled), []);
  assert.deepEqual(
    [...own].filter((name) => !name.startsWith('node-') && !isInstalled(name)),
    [],
  );
  assert.ok(isInstalled('.bin/node'));
  assert.ok(!isInstalled('typescript') && !isInstalled('@tollgate'));
});

test('it starts on a PostgreSQL server, answers a chat and stays as it was installed', async (t) => {
  const program = await Program.start(t, await settingsOf(t, toOpenAi()), LAUNCHER);
  assert.equal((await program.get('/healthz')).status, 200);
  const admin = (path: string, body: object) => program.call('POST', path, { key: ADMIN_TOKEN, body });
  const account = (await admin('/api/admin/accounts', { name: 'first' })).json.id;
  await admin(`/api/admin/accounts/${account}/grants`, { credits: 100 });
  const key = (await admin(`/api/admin/accounts/${account}/keys`, { name: 'first' })).json.key;
  const body = { model: 'chat', messages: [{ role: 'user', content: 'Hello' }] };
  const answer = await program.call('POST', '/v1/chat/completions', { key, body });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(emulator.requests.length, 1);
  assert.equal(await program.kill('SIGTERM'), 0);
  assert.ok(!isInstalled('@tollgate'), 'the start has installed nothing');
});

test('pruned as in the image, what is left is the bill of materials, and no type or manual of it', () => {
  execFileSync(process.execPath, [join(root, 'scripts/prune-modules.ts')], { cwd: root });
  const folders = globSync('node_modules/**/package.json', { cwd: root }).map((path) => dirname(path));
  const left = folders.filter((path) => /(^|\/)node_modules\/(@[^/]+\/)?[^/@]+$/.test(path));
  const isOther = ({ path, isOptional }: Component) => isOptional && !left.includes(path);
  const components = componentsOf([]).filter((component) => !isOther(component));
  assert.deepEqual(left.toSorted(), components.map(({ path }) => path).toSorted());
  assert.ok(
    !isInstalled('fastify/README.md') && !isInstalled('fastify/fastify.d.ts') && isInstalled('fastify/LICENSE'),
  );
});

test('it serves a user that may write nothing but its data, as the image does', { skip: !IS_ROOT }, async (t) => {
  chmodSync(root, 0o755);
  const folder = workFolder(t);
  const { host, port, user } = (await start(t, folder)).connection;
  // The embedded server is open to its own gateway's user alone.
  for (const path of [folder, host, join(host, `.s.PGSQL.${port}`)]) chmodSync(path, 0o777);
  const data = join(workFolder(t), 'data');
  mkdirSync(data, { mode: 0o700 });
  chownSync(data, NOBODY, NOBODY);
  const settings = {
    ...(await settingsOf(t, toOpenAi())),
    DATABASE_URL: `postgres://${user}@localhost:${port}/postgres?host=${encodeURIComponent(host)}`,
    TOLLGATE_DATA: data,
    NODE_ENV: 'production',
  };
  const unprivileged = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs'];
  const node = [join(root, 'node_modules/.bin/node'), ...V8_FLAGS, join(root, 'src/main.ts'), 'serve'];
  const program = await Program.start(t, settings, [...unprivileged, ...node]);
  assert.equal((await program.get('/readyz')).status, 200);
  const healthcheck = () =>
    spawnSync(process.execPath, [join(root, 'deploy/docker/healthcheck.mjs')], {
      env: { PORT: new URL(program.url).port },
    }).status;
  assert.equal(healthcheck(), 0);
  assert.equal(await program.kill('SIGTERM'), 0);
  assert.equal(healthcheck(), 1);
});

test('it refuses the sandbox in a file, and names the package and the command that installs it', async (t) => {
  const told = await Program.refusal(t, await settingsOf(t, configured('sandbox', 'vendor: sandbox')), LAUNCHER);
  assert.match(
    told,
    /upstreams\[0\]\.vendor .*vendor sandbox is in the package @tollgate\/sandbox, which is not installed/,
  );
  assert.match(told, /run "npm ci --omit=dev"/);
});

test('it refuses a start without a file, since the built-in catalogue is the sandbox', async (t) => {
  const { TOLLGATE_CONFIG: _, ...settings } = await settingsOf(t, '');
  assert.match(await Program.refusal(t, settings, LAUNCHER), /no configuration file.*@tollgate\/sandbox, which is not/);
});

test('it refuses a start without DATABASE_URL, names the package, and makes no folder', async (t) => {
  const folder = join(root, 'none');
  const { DATABASE_URL: _, ...settings } = await settingsOf(t, toOpenAi());
  const told = await Program.refusal(t, { ...settings, TOLLGATE_DATA: folder }, LAUNCHER);
  assert.match(
    told,
    /DATABASE_URL is not set.*@tollgate\/embedded-postgres, which is not installed.*npm ci --omit=dev/,
  );
  assert.ok(!existsSync(folder));
});
