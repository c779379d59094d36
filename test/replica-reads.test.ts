import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Gateway } from './support/gateway.ts';
import { atEnd, until, workFolder } from './support/postgres.ts';
import { ReplicatedPostgres } from './support/replicated-postgres.ts';

interface Site {
  readonly gateway: Gateway;
  readonly postgres: ReplicatedPostgres;
}

/** A gateway that decides on the primary and reads lists from the replica, with metrics. */
async function withReplica(t: TestContext): Promise<Site> {
  const folder = workFolder(t);
  const postgres = await ReplicatedPostgres.start(folder);
  atEnd(t, () => postgres.stop());
  const [primary, replica] = postgres.servers;
  await postgres.loosen();
  const gateway = await Gateway.start({
    database: {
      address: { ...primary.connection, database: 'gate' },
      url: postgres.url([primary]),
      dataFolder: join(folder, 'gateway'),
      drop: async () => undefined,
    },
    settings: {
      DATABASE_REPLICA_URL: postgres.url([replica], '&target_session_attrs=standby'),
      DATABASE_REPLICA_LAG_SECONDS: '3',
      TOLLGATE_METRICS_TOKEN: METRICS_TOKEN,
    },
  });
  atEnd(t, () => gateway.stop());
  return { gateway, postgres };
}

const METRICS_TOKEN = 'token-of-the-metrics-of-the-tests';

async function readsFrom({ gateway }: Site, server: 'replica' | 'primary'): Promise<number> {
  const response = await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  const text = await response.text();
  return Number(new RegExp(`^tollgate_replica_reads_total\\{server="${server}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
}

async function untilRead(site: Site, server: 'replica' | 'primary'): Promise<void> {
  const before = await readsFrom(site, server);
  await until(async () => {
    assert.equal((await site.gateway.admin('GET', '/audit')).status, 200);
    return (await readsFrom(site, server)) > before;
  });
}

test('lists and reports are read from a replica while it keeps up, what decides from the primary, and all of it with the replica away', async (t) => {
  const site = await withReplica(t);
  const { gateway, postgres } = site;
  const [, replica] = postgres.servers;
  const warnings = async () => (await gateway.call('GET', '/healthz')).json.warnings.join();
  const { accountId, key } = await gateway.newCaller();
  await untilRead(site, 'replica');
  const reports = [
    `/accounts/${accountId}/ledger`,
    '/audit',
    '/jobs',
    '/requests',
    '/usage?group_by=day',
    '/overview',
  ] as const;
  const served = await readsFrom(site, 'primary');
  for (const path of reports) assert.equal((await gateway.admin('GET', path)).status, 200, path);
  assert.equal((await gateway.call('GET', '/v1/usage', { key })).status, 200);
  assert.equal(await readsFrom(site, 'primary'), served);

  // Behind: what is granted now is not on the replica, and counts at once where it decides.
  await replica.ask('select pg_wal_replay_pause()');
  assert.equal((await gateway.admin('POST', `/accounts/${accountId}/grants`, { credits: 7 })).status, 200);
  assert.equal((await gateway.call('GET', '/v1/credits', { key })).json.available, 7);
  assert.equal((await gateway.call('GET', '/v1/credits/transactions', { key })).json.data.length, 1);
  await until(async () => /too far behind/.test(await warnings()));
  await untilRead(site, 'primary');
  assert.equal((await gateway.admin('GET', `/accounts/${accountId}/ledger`)).json.data.length, 1);
  await replica.ask('select pg_wal_replay_resume()');
  await untilRead(site, 'replica');

  await replica.kill();
  await untilRead(site, 'primary');
  await until(async () => /is away or too far behind/.test(await warnings()));
  await replica.revive();
  await untilRead(site, 'replica');
  assert.doesNotMatch(await warnings(), /replica/);
});
