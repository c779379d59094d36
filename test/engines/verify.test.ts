import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from 'pg';
import { runVerify } from '../../packages/verify/src/verify.ts';
import { startRedis } from '../../scripts/engines/redis.ts';
import { createDatabase } from '../support/database.ts';
import { workFolder } from '../support/postgres.ts';

test('campaigns on a PostgreSQL and a Redis of the operator’s own, both cut off, find nothing and leave nothing', async (t) => {
  const [redis, database] = [await startRedis(), await createDatabase()];
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  try {
    const { campaigns, skipped } = await runVerify({
      environment: { PATH, NODE_COMPILE_CACHE, DATABASE_URL: database.url, REDIS_URL: redis.url },
      kills: 4,
      seed: 1,
      minutes: undefined,
      only: ['database', 'redis'],
      evidenceFolder: join(workFolder(t), 'evidence'),
      progress: () => undefined,
    });
    assert.equal(skipped.redis, undefined);
    for (const { orders, hits, violations } of campaigns) {
      assert.deepEqual(violations, []);
      assert.ok(orders > 0);
      // The server is not the campaign's own.
      assert.ok(!Object.keys(hits).some((hit) => hit.startsWith('kill the database')));
    }
    assert.deepEqual(await campaignDatabases(database.address), []);
  } finally {
    await database.drop();
    await redis.server.stop();
  }
});

async function campaignDatabases(address: object): Promise<unknown[]> {
  const client = new Client(address);
  await client.connect();
  const { rows } = await client.query(`select datname from pg_database where datname like 'tollgate\\_verify%'`);
  await client.end();
  return rows;
}
