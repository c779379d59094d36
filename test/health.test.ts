import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { hostname } from 'node:os';
import { after, afterEach, before, test } from 'node:test';
import { type Db, openDb } from '../src/db/index.ts';
import { silentLog } from './support/database.ts';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { until } from './support/postgres.ts';

let gateway: Gateway;
/** Another database of the same server, from which the gateway's own can be shut. */
let outside: Db;
/** What the probe says with and without its database. */
let healthy: Answer;
let degraded: Answer;
/** A random id might have a short host name in it. */
const NAMED = { headers: { 'x-request-id': 'probe' } };

const upstream = createServer(() => {
  upstreamCalls++;
});
let upstreamCalls = 0;

before(async () => {
  await once(upstream.listen(0, '127.0.0.1').unref(), 'listening');
  gateway = await Gateway.start();
  await gateway.putConfig(catalogueOf(upstream.address()));
  outside = openDb({ ...gateway.database.address, database: 'postgres' }, silentLog);
  healthy = await gateway.call('GET', '/healthz', NAMED);
  degraded = await whileShut(() => gateway.call('GET', '/healthz', NAMED));
});

after(async () => {
  upstream.close();
  await outside.close();
  await gateway.stop();
});

afterEach(() => gateway.assertBooksBalance());

test('R-492: the probe answers 200 with the record while all is well', () => {
  assert.equal(healthy.status, 200);
  assert.equal(healthy.json.status, 'ok');
});

test('R-492: with the database shut it answers 503 with the same record', () => {
  assert.equal(degraded.status, 503);
  assert.deepEqual(Object.keys(degraded.json), Object.keys(healthy.json));
  assert.equal(degraded.headers['content-type'], healthy.headers['content-type']);
});

test('R-492: the probe is public, and a credential of any kind makes no difference', async () => {
  const { key } = await gateway.newCaller();
  for (const credential of [key, ADMIN_TOKEN, 'sk-tg1-nonsense', '']) {
    assert.equal((await gateway.call('GET', '/healthz', { key: credential })).status, 200);
  }
});

test('R-493: the record has its fields, each of its type', () => {
  for (const { json } of [healthy, degraded]) {
    const types = Object.entries(json).map(([name, value]) => [name, typeof value]);
    assert.deepEqual(Object.fromEntries(types), {
      status: 'string',
      version: 'string',
      db: 'string',
      outbox_pending: 'number',
      cleanup_running: 'boolean',
      cleanup_pending: 'number',
      cleanup_oldest_due_age_s: 'number',
      warnings: 'object',
    });
    assert.ok(Number.isInteger(json.outbox_pending) && json.outbox_pending >= 0);
    assert.ok(Number.isInteger(json.cleanup_pending) && json.cleanup_pending >= 0);
    assert.ok(json.cleanup_oldest_due_age_s >= 0);
  }
});

test('R-494, R-497: status is ok or degraded, and db is ok or unavailable', () => {
  assert.deepEqual([healthy.json.status, healthy.json.db], ['ok', 'ok']);
  assert.deepEqual([degraded.json.status, degraded.json.db], ['degraded', 'unavailable']);
});

test('R-495: version names the running release', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  assert.equal(healthy.json.version, version);
  assert.equal(degraded.json.version, version);
});

test('R-496, R-497: the probe turns with its database and turns back by itself', async () => {
  assert.equal((await gateway.call('GET', '/healthz')).status, 200);
  const shut = await whileShut(() => gateway.call('GET', '/healthz'));
  assert.equal(shut.status, 503);
  assert.equal((await gateway.call('GET', '/healthz')).status, 200);
});

test('R-494, R-497: a database that is read and takes no writes is unavailable, with the reason, until it takes them', async () => {
  const { database } = gateway.database.address;
  const readOnly = async (setting: 'on' | 'off') => {
    await outside.run(`alter database ${database} set default_transaction_read_only = ${setting}`);
    await outside.rows('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database]);
  };
  const health = () => gateway.call('GET', '/healthz');
  const reason = 'The database takes no writes: it is read-only.';
  await readOnly('on');
  try {
    await until(async () => (await health()).json.warnings.includes(reason));
    const { status, json } = await health();
    assert.deepEqual([status, json.status, json.db], [503, 'degraded', 'unavailable']);
    assert.deepEqual(Object.keys(json), Object.keys(healthy.json));
  } finally {
    await readOnly('off');
  }
  await until(async () => (await health()).status === 200);
  assert.deepEqual((await health()).json.warnings, []);
});

test('R-497: the probe calls no upstream', async () => {
  assert.equal((await gateway.call('GET', '/healthz')).status, 200);
  assert.equal(upstreamCalls, 0);
});

test('R-497: no proxy may keep the answer', () => {
  assert.equal(healthy.headers['cache-control'], 'no-store');
  assert.equal(degraded.headers['cache-control'], 'no-store');
});

test('R-498: the probe discloses no name, address, secret or trace', () => {
  const { address, url } = gateway.database;
  const addresses = ['127.0.0.1', 'postgres', url, address.database, hostname()];
  for (const { text, headers } of [healthy, degraded]) {
    const told = `${text} ${JSON.stringify(headers)}`;
    for (const word of [...addresses, 'hidden', 'openai', 'hush', ADMIN_TOKEN, ' at ', '/src/']) {
      assert.ok(!told.includes(word), `${word} in ${told}`);
    }
  }
});

test('many probes at once are all answered', async () => {
  const answers = await Promise.all(Array.from({ length: 200 }, () => gateway.call('GET', '/healthz')));
  assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]));
});

test('the probe is not rate limited', async () => {
  for (let probe = 0; probe < 70; probe++) assert.equal((await gateway.call('GET', '/healthz')).status, 200);
});

test('a second process with limits of its own is warned of, and no longer once it has stopped', async () => {
  const warnings = async (): Promise<string[]> => (await gateway.call('GET', '/healthz')).json.warnings;
  assert.deepEqual(await warnings(), []);
  const second = await Gateway.start({ database: gateway.database });
  try {
    await until(async () => (await warnings()).length === 1);
    assert.match((await warnings())[0] ?? '', /^2 processes share this database/);
    assert.equal((await gateway.call('GET', '/healthz')).status, 200);
  } finally {
    await second.stop();
  }
  await until(async () => (await warnings()).length === 0);
});

/** Lets nobody into the gateway's database until the probe has turned and `look` has looked; then waits for recovery. */
async function whileShut(look: () => Promise<Answer>): Promise<Answer> {
  const { database } = gateway.database.address;
  const turned = (status: number) => until(async () => (await gateway.call('GET', '/healthz')).status === status);
  await outside.run(`alter database ${database} allow_connections false`);
  try {
    await outside.rows('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database]);
    await turned(503);
    return await look();
  } finally {
    await outside.run(`alter database ${database} allow_connections true`);
    await turned(200);
  }
}

function catalogueOf(address: AddressInfo | string | null): object {
  assert.ok(address !== null && typeof address === 'object');
  const url = `http://127.0.0.1:${address.port}/v1`;
  return {
    upstreams: [{ id: 'hidden-upstream', vendor: 'openai', base_url: url, api_key: 'hush-hush' }],
    models: [
      {
        id: 'test/chat',
        modality: 'chat',
        owned_by: 'test',
        endpoints: ['chat'],
        context_tokens: 1000,
        max_output_tokens: 1000,
        pricing: { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 1 } },
        routes: [{ upstream: 'hidden-upstream', model: 'hidden-model' }],
      },
    ],
  };
}
