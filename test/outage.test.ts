import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { Client } from 'pg';
import { newApiKey } from '../src/accounts/api-key.ts';
import { DB_CONNECT_TIMEOUT_MS } from '../src/limits.ts';
import { silentLog } from './support/database.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { sendSignal, serverPid, serversBelow, until } from './support/postgres.ts';

const PROBE_TIMEOUT_MS = 2000;
const CONNECTIONS_MAX = 40;

let folder: string;
let server: EmbeddedPostgres;
let gateway: Gateway;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-outage-'));
  // The server's user must be able to pass.
  chmodSync(folder, 0o755);
  const settings = { max_connections: String(CONNECTIONS_MAX) };
  server = await startEmbeddedPostgres({ folder, log: silentLog, progress: () => undefined, settings });
  await ask('create database gate');
  const { host, port, user } = server.connection;
  gateway = await Gateway.start({
    database: {
      address: { host, port, user, database: 'gate' },
      url: `postgres://${user}@localhost:${port}/gate?host=${encodeURIComponent(host)}`,
      dataFolder: join(folder, 'gateway'),
      drop: async () => undefined,
    },
  });
});

after(async () => {
  await gateway.stop();
  await server.stop();
  rmSync(folder, { recursive: true });
});

// Each test finds the server well, also after one that failed before it could say so.
beforeEach(() => until(async () => (await gateway.admin('GET', '/books')).status === 200));

afterEach(() => gateway.assertBooksBalance());

test('R-058, R-061, R-113, R-496: with its server killed each route says what is away, and all recover by themselves', async () => {
  const caller = await gateway.newCaller();
  await assertServes(caller);
  renameSync(join(folder, 'postgres'), join(folder, 'away'));
  for (const pid of serversBelow(folder)) sendSignal(pid, 'SIGKILL');
  try {
    await assertTellsOutage(caller);
  } finally {
    renameSync(join(folder, 'away'), join(folder, 'postgres'));
  }
  await assertRecovers(caller);
});

test('R-496: with its server frozen the probe still answers in time, and what was asked meanwhile is answered after it', async () => {
  const caller = await gateway.newCaller();
  await assertServes(caller);
  process.kill(serverPid(folder), 'SIGSTOP');
  for (const pid of serversBelow(folder)) sendSignal(pid, 'SIGSTOP');
  let asked: Promise<Answer> | undefined;
  try {
    asked = gateway.admin('GET', `/accounts/${caller.accountId}`);
    await until(async () => (await probe()).status === 503);
    assert.equal((await gateway.call('GET', '/api/hub/public/models')).status, 200);
  } finally {
    for (const pid of serversBelow(folder)) sendSignal(pid, 'SIGCONT');
  }
  assert.equal((await asked).status, 200);
  await assertRecovers(caller);
});

test('R-113: with a database that lets nobody in each route says what is away', async () => {
  const caller = await gateway.newCaller();
  await assertServes(caller);
  await ask('alter database gate allow_connections false');
  try {
    await ask(`select pg_terminate_backend(pid) from pg_stat_activity where datname = 'gate'`);
    await assertTellsOutage(caller);
  } finally {
    await ask('alter database gate allow_connections true');
  }
  await assertRecovers(caller);
});

test('R-113: with no connection left each route says what is away', async () => {
  const caller = await gateway.newCaller();
  await assertServes(caller);
  const taken: Client[] = [];
  try {
    await takeAllConnections(taken);
    await assertTellsOutage(caller);
  } finally {
    await Promise.all(taken.map((client) => client.end()));
  }
  await assertRecovers(caller);
});

test('R-061: a locked ledger is told as such, and nothing else suffers', async () => {
  const caller = await gateway.newCaller();
  await whileLocked('ledger_entries', async () => {
    const [books, grant, models] = await Promise.all([
      gateway.admin('GET', '/books'),
      gateway.admin('POST', `/accounts/${caller.accountId}/grants`, { credits: 1 }),
      gateway.call('GET', '/v1/models', caller),
    ]);
    assertRefused(books, 'precheck_failed');
    assertRefused(grant, 'precheck_failed');
    assert.equal(models.status, 200);
  });
  assert.deepEqual((await gateway.admin('GET', `/accounts/${caller.accountId}/ledger`)).json.data, []);
  assert.equal((await gateway.admin('POST', `/accounts/${caller.accountId}/grants`, { credits: 1 })).status, 200);
});

test('R-058: a locked key directory is told as such, and callers already known are served on', async () => {
  const known = await gateway.newCaller();
  const unknown = await gateway.newCaller();
  assert.equal((await gateway.call('GET', '/v1/models', known)).status, 200);
  await whileLocked('api_keys', async () => {
    const refused = gateway.call('GET', '/v1/models', unknown);
    assert.equal((await gateway.call('GET', '/v1/models', known)).status, 200);
    assertRefused(await refused, 'identity_unavailable');
  });
  assert.equal((await gateway.call('GET', '/v1/models', unknown)).status, 200);
});

test('R-058: callers who must all be looked for at once are answered, even if that takes longer than a connection may', async () => {
  const caller = await gateway.newCaller({ key: { rpm: 1000, concurrency: 40 } });
  const calls = await whileLocked('api_keys', async () => {
    const begun = Array.from({ length: 40 }, () => gateway.call('GET', '/v1/models', caller));
    await pass(DB_CONNECT_TIMEOUT_MS + 500);
    return begun;
  });
  const answers = await Promise.all(calls);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
});

test('a change whose connection is cut off in the middle is told as an outage and leaves nothing', async () => {
  const { accountId } = await gateway.newCaller();
  await whileLocked('audit', async () => {
    const change = gateway.admin('PATCH', `/accounts/${accountId}`, { name: 'Half' });
    const waiting = `from pg_stat_activity where datname = 'gate' and wait_event_type = 'Lock'`;
    await until(async () => (await ask(`select pid ${waiting}`)).length === 1);
    await ask(`select pg_terminate_backend(pid) ${waiting}`);
    assertRefused(await change, 'database_unavailable');
  });
  assert.equal((await gateway.admin('GET', `/accounts/${accountId}`)).json.name, 'Test');
});

test('grants that were running when the server was killed are made once when they are sent again', async () => {
  const { accountId } = await gateway.newCaller();
  const grants = Array.from({ length: 40 }, (_, place) => ({ credits: 1, reference: `${accountId}/${place}` }));
  const give = () => Promise.all(grants.map((body) => gateway.admin('POST', `/accounts/${accountId}/grants`, body)));
  const running = give();
  await until(async () => (await ask('select 1 from pg_stat_activity where xact_start is not null')).length > 1);
  process.kill(serverPid(folder), 'SIGKILL');
  const first = await running;
  for (const { status, text } of first) assert.ok(status === 200 || status === 503, text);
  await until(async () => (await gateway.admin('GET', '/books')).status === 200);

  for (const [place, { status }] of (await give()).entries()) {
    assert.ok(status === 409 || (status === 200 && first[place]?.status === 503), `grant ${place}: ${status}`);
  }
  const entries = (await gateway.admin('GET', `/accounts/${accountId}/ledger?limit=100`)).json.data;
  assert.equal(entries.length, 40);
  assert.equal(entries[0].balance, 40);
});

async function assertServes({ accountId, key }: NewCaller): Promise<void> {
  const answers = [
    await probe(),
    await gateway.call('GET', '/v1/models', { key }),
    await gateway.admin('GET', `/accounts/${accountId}`),
    await gateway.admin('GET', '/books'),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  );
}

/** Every route at once: each may take as long as the gateway waits for a server that does not answer. */
async function assertTellsOutage({ accountId, key }: NewCaller): Promise<void> {
  const nobodysKey = newApiKey();
  await until(async () => (await probe()).status === 503);
  // Until the loss is noticed, at most for the lease of the cache, a caller already known is served.
  await until(async () => (await gateway.call('GET', '/v1/models', { key })).status !== 200);
  const [known, nobody, account, change, config, books, ledger, grant, ...served] = await Promise.all([
    gateway.call('GET', '/v1/models', { key }),
    gateway.call('GET', '/v1/models/sandbox/chat', { key: nobodysKey }),
    gateway.admin('GET', `/accounts/${accountId}`),
    gateway.admin('POST', '/accounts', { name: 'Test' }),
    gateway.admin('PUT', '/config', { upstreams: [], models: [] }),
    gateway.admin('GET', '/books'),
    gateway.admin('GET', `/accounts/${accountId}/ledger`),
    gateway.admin('POST', `/accounts/${accountId}/grants`, { credits: 1 }),
    gateway.call('GET', '/api/hub/public/models'),
    gateway.call('GET', '/openapi.json'),
  ]);
  for (const answer of [known, nobody]) assertRefused(answer, 'identity_unavailable');
  for (const answer of [account, change, config]) assertRefused(answer, 'database_unavailable');
  for (const answer of [books, ledger, grant]) assertRefused(answer, 'precheck_failed');
  for (const answer of served) assert.equal(answer.status, 200);
  assert.equal((await gateway.call('GET', '/v1/models', { key: 'no key at all' })).status, 401);
  const { status, json } = await probe();
  assert.deepEqual([status, json.status, json.db], [503, 'degraded', 'unavailable']);
}

async function assertRecovers(caller: NewCaller): Promise<void> {
  await until(async () => (await probe()).status === 200);
  await until(async () => (await gateway.call('GET', '/v1/models', caller)).status === 200);
  await assertServes(caller);
  const { accountId } = caller;
  assert.deepEqual((await gateway.admin('GET', `/accounts/${accountId}/ledger`)).json.data, []);
  assert.equal((await gateway.admin('POST', `/accounts/${accountId}/grants`, { credits: 1 })).status, 200);
  assert.notEqual((await gateway.admin('GET', '/config')).json.models.length, 0);
}

function assertRefused(answer: Answer | undefined, code: string): void {
  assert.equal(answer?.json?.error?.code, code, answer?.text ?? 'no answer');
  assert.equal(answer?.status, 503);
  assert.equal(answer?.headers['retry-after'], '1');
}

/** As a load balancer does it, which gives up after a while. */
async function probe(): Promise<{ status: number; json: { status: string; db: string } }> {
  const response = await fetch(`${gateway.url}/healthz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
  return { status: response.status, json: JSON.parse(await response.text()) };
}

/** One statement on a connection of its own, outside the gateway's database. */
async function ask(statement: string): Promise<unknown[]> {
  const client = await connectTo('postgres');
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

async function connectTo(database: string): Promise<Client> {
  const client = new Client({ ...server.connection, database });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function whileLocked<Result>(table: string, work: () => Promise<Result>): Promise<Result> {
  const client = await connectTo('gate');
  try {
    await client.query(`begin; lock table ${table} in access exclusive mode`);
    return await work();
  } finally {
    await client.end();
  }
}

/** Puts the gateway out of its own connections and takes their place. */
async function takeAllConnections(taken: Client[]): Promise<void> {
  const first = await connectTo('postgres');
  taken.push(first);
  const gateways = `from pg_stat_activity where datname = 'gate'`;
  const hasNone = async () => (await first.query(`select 1 ${gateways}`)).rows.length === 0;
  await until(async () => {
    await first.query(`select pg_terminate_backend(pid) ${gateways}`);
    await takeFreeConnections(taken);
    // An ended session gives its place back a moment later, so only a second look without gain is the end.
    return (await hasNone()) && (await takeFreeConnections(taken)) === 0 && (await hasNone());
  });
}

async function takeFreeConnections(taken: Client[]): Promise<number> {
  for (let gained = 0; ; gained++) {
    const client = await connectTo('postgres').catch(() => undefined);
    if (client === undefined) return gained;
    taken.push(client);
  }
}
