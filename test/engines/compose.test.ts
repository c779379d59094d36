import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { request } from 'undici';
import { parse } from 'yaml';
import { startPostgres } from '../../scripts/engines/postgres.ts';
import { sendRedis, startRedis } from '../../scripts/engines/redis.ts';
import { startSwift } from '../../scripts/s3/swift.ts';
import { sniff } from '../../src/media/index.ts';
import { BARE_ENVIRONMENT } from '../support/environment.ts';
import { ROOT } from '../support/manual.ts';
import { atEnd, until, workFolder } from '../support/postgres.ts';
import { Program, runCommand } from '../support/program.ts';

// compose.yaml without containers: its settings, secrets and one-shot commands, on the same engines from Debian's packages
// (Redis for Valkey, Swift for the S3 server).

interface Compose {
  readonly services: Record<string, { readonly command?: string[]; readonly environment?: Record<string, string> }>;
}

const compose: Compose = parse(readFileSync(join(ROOT, 'compose.yaml'), 'utf8'), { merge: true });

test('what compose.yaml describes makes a picture on three real engines', async (t) => {
  const folder = join(workFolder(t), 'secrets');
  const swift = await startSwift();
  atEnd(t, () => swift.stop());
  // Swift's only user is in its own configuration; a secret that is there stays.
  mkdirSync(join(folder, 'storage'), { recursive: true });
  writeFileSync(join(folder, 'storage/access-key'), swift.environment.AWS_ACCESS_KEY_ID ?? '');
  writeFileSync(join(folder, 'storage/secret-key'), swift.environment.AWS_SECRET_ACCESS_KEY ?? '');
  runScript('secrets.mjs', {}, folder);
  const secret = (name: string) => readFileSync(join(folder, name), 'utf8').trim();
  const rootSecret = secret('gateway/secret');
  const addresses = await startServers(t, secret);
  const { redisPort, ...environment } = addresses;
  runScript('secrets.mjs', environment, folder);
  assert.equal(secret('gateway/secret'), rootSecret);

  const settings = settingsOf('gateway', join(folder, 'gateway'), swift.endpoint);
  assert.match(runScript('bucket.mjs', settings), /^Made the bucket tollgate\.$/m);
  assert.match(runScript('bucket.mjs', settings), /^The bucket tollgate is there\.$/m);
  const migrated = await runCommand(t, compose.services.migrate?.command ?? [], settings);
  assert.equal(migrated.code, 0, migrated.err);
  const program = await Program.start(t, settings);
  await makePicture(program, secret('gateway/admin-token'), swift.endpoint);
  assert.deepEqual((await program.get('/healthz')).json.warnings, []);
  const counted = await sendRedis(redisPort, `AUTH ${secret('valkey/password')}\r\nDBSIZE`);
  assert.match(counted, /:[1-9]/, 'limits are counted in Redis');
  assert.equal(await program.kill('SIGTERM'), 0);
});

async function makePicture(program: Program, token: string, endpoint: string): Promise<void> {
  const admin = (path: string, body: object) => program.call('POST', `/api/admin${path}`, { key: token, body });
  const { json: account } = await admin('/accounts', { name: 'first' });
  await admin(`/accounts/${account.id}/grants`, { credits: 100 });
  const { key } = (await admin(`/accounts/${account.id}/keys`, { name: 'first' })).json;
  const body = { model: 'sandbox/image', prompt: 'a toll gate' };
  const created = await program.call('POST', '/v1/images/generations', { key, body });
  assert.equal(created.status, 202, created.text);
  const path = `/v1/jobs/${created.json.id}`;
  const job = async () => (await program.get(path, key)).json;
  await until(async () => !['queued', 'running'].includes((await job()).status));
  assert.equal((await job()).status, 'succeeded', JSON.stringify(await job()) + program.logged.join('\n'));
  const link = (await program.get(`${path}/content`, key)).headers.location ?? '';
  assert.ok(link.startsWith(endpoint), `the link leads to the bucket: ${link}`);
  const { body: picture } = await request(link);
  assert.equal(sniff(Buffer.from(await picture.arrayBuffer()))?.mimeType, 'image/png');
  assert.equal((await program.get('/api/admin/books?full=1', token)).json.balanced, true);
}

async function startServers(t: TestContext, secret: (name: string) => string) {
  const postgres = await startPostgres(secret('postgres/password'));
  atEnd(t, () => postgres.server.stop());
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`create database ${compose.services.postgres?.environment?.POSTGRES_DB}`);
  await client.end();
  const redis = await startRedis();
  atEnd(t, () => redis.server.stop());
  assert.match(await sendRedis(redis.port, `CONFIG SET requirepass ${secret('valkey/password')}`), /^\+OK/);
  return {
    POSTGRES_ADDRESS: new URL(postgres.url).host,
    VALKEY_ADDRESS: `127.0.0.1:${redis.port}`,
    redisPort: redis.port,
  };
}

/** As the container has them, with the paths and addresses of this machine. */
function settingsOf(service: string, secrets: string, endpoint: string): Record<string, string> {
  const written = Object.entries(compose.services[service]?.environment ?? {});
  return {
    ...Object.fromEntries(written.map(([name, value]) => [name, value.replace(/^\/secrets/, secrets)])),
    NODE_ENV: 'production',
    PUBLIC_URL: 'http://127.0.0.1:8787',
    S3_ENDPOINT: endpoint,
    TOLLGATE_CONFIG: join(ROOT, 'deploy/compose/tollgate.yaml'),
    TOLLGATE_DATA: join(secrets, '../data'),
  };
}

function runScript(name: string, environment: NodeJS.ProcessEnv, ...args: string[]): string {
  const env = { ...BARE_ENVIRONMENT, ...environment };
  return execFileSync(process.execPath, [join(ROOT, 'deploy/compose', name), ...args], { env, encoding: 'utf8' });
}
