import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sendRedis } from '../../scripts/engines/redis.ts';
import { startCluster, startSentinel } from '../../scripts/engines/redis-groups.ts';
import { freePorts } from '../../scripts/free-ports.ts';
import { selfSigned } from '../support/certificate.ts';
import { atEnd, until, workFolder } from '../support/postgres.ts';
import { forkLimiter, redisFor, redisSettingsOf, takeOn, throttleFor } from '../support/redis-throttle.ts';
import { many, outcomeOf } from '../support/throttle-contract.ts';

const FIVE = { rpm: 5, concurrency: 100 };

test('R-507: the master that Sentinel names counts, and after a failover the one that it has promoted', async (t) => {
  const group = await startSentinel();
  atEnd(t, () => group.stop());
  const { throttle } = await throttleFor(t, redisSettingsOf(group.url));
  assert.deepEqual((await many(6, () => outcomeOf(throttle, 'k', FIVE))).at(-1), 'rate_limited');
  assert.match(await sendRedis(group.master.port, 'KEYS tollgate:{k}:bucket'), /bucket/);
  await group.master.server.kill();
  await until(() => throttle.status.counting === 'local');
  await until(() => throttle.status.counting === 'shared');
  assert.match(await sendRedis(group.replica.port, 'ROLE'), /master/);
  assert.deepEqual(
    (await many(6, () => outcomeOf(throttle, 'after', FIVE))).filter((outcome) => outcome === 'acquired').length,
    5,
  );
});

test('R-507: the nodes of a cluster count each their subjects, and one that is away is told until it is back', async (t) => {
  const cluster = await startCluster();
  atEnd(t, () => cluster.stop());
  const { throttle, logged } = await throttleFor(t, redisSettingsOf(cluster.url));
  const subjects = Array.from({ length: 30 }, (_, at) => `key:${at}`);
  for (const subject of subjects) {
    const outcomes = await many(8, () => outcomeOf(throttle, subject, FIVE));
    assert.equal(outcomes.filter((outcome) => outcome === 'acquired').length, 5, subject);
  }
  assert.deepEqual(throttle.status, { counting: 'shared', outages: 0, decidedAlone: 0 });
  for (const { port } of cluster.nodes) assert.doesNotMatch(await sendRedis(port, 'DBSIZE'), /^:0\r/);

  const [lost] = cluster.nodes;
  await lost?.server.kill();
  const asked = async () => {
    for (const subject of subjects) await throttle.take(subject, { rpm: 1_000, concurrency: 100 });
    return throttle.status.counting;
  };
  await until(async () => (await asked()) === 'local');
  await lost?.server.restart();
  await until(() => throttle.status.counting === 'shared');
  await until(async () => (await asked()) === 'shared');
  assert.ok(logged.some(({ msg }) => msg.startsWith('Redis is back')));
});

test('R-507: rediss:// is with TLS, and a certificate that is not trusted counts as away', async (t) => {
  const folder = workFolder(t);
  const { key, cert } = selfSigned('localhost');
  writeFileSync(join(folder, 'key.pem'), key);
  writeFileSync(join(folder, 'cert.pem'), cert);
  const file = (name: string) => join(folder, name);
  const [port = 0] = await freePorts(1);
  const files = [
    '--tls-cert-file',
    file('cert.pem'),
    '--tls-key-file',
    file('key.pem'),
    '--tls-ca-cert-file',
    file('cert.pem'),
  ];
  await redisFor(t, '--tls-port', String(port), '--tls-auth-clients', 'no', ...files);
  const url = `rediss://localhost:${port}`;
  const { throttle, logged } = await throttleFor(t, redisSettingsOf(url));
  assert.equal(throttle.status.counting, 'local');
  assert.match(logged[0]?.reason ?? '', /self-signed certificate/);
  const trusting = await forkLimiter(url, { NODE_EXTRA_CA_CERTS: file('cert.pem') });
  atEnd(t, () => trusting.kill('SIGKILL'));
  assert.equal(await takeOn(trusting, { subject: 'k', ...FIVE, count: 8 }), 5);
});
