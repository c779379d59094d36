import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playFailover, showFailover } from '../chaos/failover-round.ts';
import { workFolder } from '../support/postgres.ts';

test('R-197: a primary killed under load and its replica promoted lose and double nothing that was acknowledged', async (t) => {
  const failover = await playFailover(workFolder(t));
  t.diagnostic(showFailover(failover));
  assert.deepEqual(failover.findings, []);
});

test('the check of a failover finds what asynchronous replication loses', async (t) => {
  const failover = await playFailover(workFolder(t), { isAsynchronous: true });
  assert.ok(
    failover.findings.some((finding) => /acknowledged and made 0 times/.test(finding)),
    showFailover(failover),
  );
});
