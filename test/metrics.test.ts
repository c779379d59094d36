import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { VERSION } from '../src/version.ts';
import { silentLog } from './support/database.ts';
import { Scrape } from './support/exposition.ts';
import { ADMIN_TOKEN, Gateway, type NewCaller } from './support/gateway.ts';
import { takeAway } from './support/outage.ts';
import { chatBody, paidCaller, tokenModel } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';

const CHAT = '/v1/chat/completions';
const BROKEN = { kind: 'error', error: 'broken' } as const;
const TOKEN = 'a-token-for-the-metrics';

const upstream = new OpenAiEmulator();
let gateway: Gateway;
let caller: NewCaller;

before(async () => {
  await upstream.start();
  gateway = await Gateway.start({ settings: { TOLLGATE_METRICS_PORT: '0' } });
  caller = await paidCaller(gateway);
  await gateway.putConfig(documentOf(['talker']));
});
after(async () => {
  await gateway.stop();
  await upstream.stop();
});

function documentOf(models: readonly string[]): object {
  return {
    upstreams: [{ id: 'main', vendor: 'openai', base_url: upstream.url }],
    models: models.map((id) => tokenModel(id, ['main'])),
  };
}

function scrape(): Promise<Scrape> {
  return Scrape.of(gateway.metricsUrl ?? assert.fail('no port for metrics'));
}

function chat(model: string, more: Record<string, unknown> = {}) {
  return gateway.call('POST', CHAT, { key: caller.key, body: chatBody(model, more) });
}

/** The series is written when the connection's answer has ended, a moment after the caller has it. */
async function untilCounted(labels: Record<string, string>, requests: number): Promise<Scrape> {
  await until(async () => (await scrape()).value('tollgate_requests_total', labels) === requests);
  return scrape();
}

test('R-529: requests are counted and timed by the route’s pattern, model, status and code', async () => {
  assert.equal((await chat('talker')).status, 200);
  const ok = { method: 'POST', route: CHAT, model: 'talker', status: '200', code: '' };
  const seen = await untilCounted(ok, 1);
  const timed = { method: 'POST', route: CHAT, model: 'talker' };
  assert.equal(seen.value('tollgate_request_duration_seconds_count', timed), 1);
  assert.equal(seen.value('tollgate_request_duration_seconds_bucket', { ...timed, le: '+Inf' }), 1);
  assert.ok((seen.value('tollgate_request_duration_seconds_sum', timed) ?? 0) > 0);
  const attempt = { upstream: 'main', outcome: 'ok' };
  assert.equal(seen.value('tollgate_upstream_attempts_total', attempt), 1);
  assert.equal(seen.value('tollgate_upstream_duration_seconds_count', { upstream: 'main' }), 1);
});

test('R-529: a stream is timed to its first byte as well', async () => {
  assert.equal((await chat('talker', { stream: true })).status, 200);
  await until(async () => {
    const labels = { route: CHAT, model: 'talker' };
    return (await scrape()).value('tollgate_stream_first_byte_seconds_count', labels) === 1;
  });
});

test('R-048, R-529: labels are of bounded sets, whatever callers send', async () => {
  for (const model of ['none/such', 'x'.repeat(300), 'a"b\\c\nd']) await chat(model);
  for (const path of ['/nowhere/1', '/nowhere/2', '/v1/jobs/job_1', '/v1/jobs/job_2']) {
    await gateway.call('GET', path, { key: caller.key });
  }
  const unknown = { method: 'POST', route: CHAT, model: 'other', status: '404', code: 'model_not_found' };
  await untilCounted(unknown, 3);
  const seen = await untilCounted({ route: 'none' }, 2);
  const routes = new Set(seen.points.map(({ labels }) => labels.route).filter((route) => route !== undefined));
  assert.ok(routes.has('/v1/jobs/:job_id') && routes.has('none'));
  for (const route of routes) assert.doesNotMatch(route, /nowhere|job_\d/);
  const told = seen.text;
  for (const word of [caller.key, caller.accountId, caller.keyId, 'none/such', 'xxx']) assert.ok(!told.includes(word));
});

test('R-529: breakers, jobs, the journal, the pool and the process are told', async () => {
  const seen = await scrape();
  assert.equal(seen.value('tollgate_build_info', { version: VERSION }), 1);
  assert.equal(seen.value('tollgate_upstream_breaker_state', { upstream: 'main', upstream_model: '' }), 0);
  assert.equal(seen.value('tollgate_database_writable'), 1);
  assert.equal(seen.value('tollgate_processes', { role: 'serve' }), 1);
  assert.equal(seen.value('tollgate_limiter_degraded'), 0);
  assert.equal(seen.value('tollgate_jobs_oldest_due_seconds'), 0);
  assert.equal(seen.value('tollgate_models_without_candidate'), 0);
  assert.ok((seen.value('tollgate_db_pool_max') ?? 0) > 0);
  assert.ok((seen.value('tollgate_disk_size_bytes') ?? 0) > (seen.value('tollgate_disk_free_bytes') ?? 0));
  for (const name of [
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
    'process_cpu_seconds_total',
  ]) {
    assert.notEqual(seen.value(name), undefined, name);
  }
});

test('R-529: an upstream that fails is seen by its faults and its open breaker', async () => {
  const failing = new OpenAiEmulator();
  await failing.start();
  await gateway.putConfig({
    upstreams: [{ id: 'failing', vendor: 'openai', base_url: failing.url }],
    models: [tokenModel('broken', ['failing'])],
  });
  try {
    for (let calls = 0; calls < 3; calls++) {
      failing.script(BROKEN, BROKEN, BROKEN);
      await chat('broken');
    }
    const seen = await scrape();
    const state = seen.points.filter(
      ({ name, labels }) => name === 'tollgate_upstream_breaker_state' && labels.upstream === 'failing',
    );
    assert.ok(
      state.some(({ value }) => value === 2),
      JSON.stringify(state),
    );
    assert.ok((seen.value('tollgate_upstream_attempts_total', { upstream: 'failing', outcome: 'server' }) ?? 0) >= 3);
    assert.equal(seen.value('tollgate_models_without_candidate'), 1);
  } finally {
    await failing.stop();
    await gateway.putConfig(documentOf(['talker']));
  }
});

test('R-529: the last check of the books is told, and no scrape makes one', async () => {
  const own = await Gateway.start({ settings: { TOLLGATE_METRICS_PORT: '0' } });
  try {
    const before = await Scrape.of(own.metricsUrl ?? '');
    assert.equal(before.value('tollgate_books_imbalance'), undefined);
    await own.admin('GET', '/books');
    const second = await Gateway.start({ settings: { TOLLGATE_METRICS_PORT: '0' }, database: own.database });
    const seen = await Scrape.of(second.metricsUrl ?? '');
    assert.equal(seen.value('tollgate_books_imbalance'), 0);
    assert.ok((seen.value('tollgate_books_check_age_seconds') ?? -1) >= 0);
    await second.stop();
  } finally {
    await own.stop();
  }
});

test('R-529: a duty that fails is counted, and how long ago it succeeded is told', async () => {
  const own = await Gateway.start({
    settings: { TOLLGATE_METRICS_PORT: '0', TOLLGATE_LEDGER_EXPORT: '1', TOLLGATE_TEST_CLOCK: '1' },
  });
  const db = openDb(own.database.address, silentLog);
  const duty = 'export the ledger';
  const figures = async () => {
    const seen = await Scrape.of(own.metricsUrl ?? '');
    const age = seen.value('tollgate_duty_success_age_seconds', { duty }) ?? Number.NaN;
    const scrapedMs = performance.now();
    return {
      failures: seen.value('tollgate_duty_failures_total', { duty }),
      succeededMs: scrapedMs - 1000 * age,
      scrapedMs,
    };
  };
  try {
    assert.equal((await figures()).failures, 0);
    await db.run('alter table ledger_exports rename to away');
    const before = await figures();
    await own.admin('POST', '/clock', { advance_seconds: 1 });
    const failed = await figures();
    assert.equal(failed.failures, 1);
    assert.ok(failed.succeededMs < before.scrapedMs);
    await db.run('alter table away rename to ledger_exports');
    await own.admin('POST', '/clock', { advance_seconds: 1 });
    const mended = await figures();
    assert.equal(mended.failures, 1);
    assert.ok(mended.succeededMs > failed.scrapedMs);
    // Another process is at the day that is next: that is neither.
    await own.newCaller();
    await db.run(
      `insert into ledger_exports (day, owner, lease_until) select created_at::date, 'proc_other', 'infinity' from accounts`,
    );
    await own.admin('POST', '/clock', { advance_seconds: 3 * 24 * 3_600 });
    const elsewhere = await figures();
    assert.equal(elsewhere.failures, 1);
    assert.ok(elsewhere.succeededMs < mended.scrapedMs);
  } finally {
    await db.close();
    await own.stop();
  }
});

test('R-529: a database that is away is neither reachable nor writable, until it is back', async () => {
  const own = await Gateway.start({ settings: { TOLLGATE_METRICS_PORT: '0' } });
  const figures = async () => {
    const seen = await Scrape.of(own.metricsUrl ?? '');
    return [seen.value('tollgate_database_reachable'), seen.value('tollgate_database_writable')].join();
  };
  try {
    await until(async () => (await figures()) === '1,1');
    const giveBack = await takeAway(own.database);
    await until(async () => (await figures()) === '0,0');
    await giveBack();
    await until(async () => (await figures()) === '1,1');
    const db = openDb(own.database.address, silentLog);
    await db.run(`alter database ${own.database.address.database} set default_transaction_read_only = on`);
    await db.close();
    const restart = await takeAway(own.database);
    await restart();
    await until(async () => (await figures()) === '1,0');
  } finally {
    await own.stop();
  }
});

test('R-529: without a setting there are no metrics on the callers’ port, and a port of their own serves nothing else', async () => {
  for (const key of [caller.key, ADMIN_TOKEN, '']) {
    const answer = await gateway.call('GET', '/metrics', { key });
    assert.deepEqual([answer.status, answer.json.error.code], [404, 'not_found']);
  }
  const base = (gateway.metricsUrl ?? '').replace('/metrics', '');
  for (const path of ['/', '/healthz', '/v1/models', '/metrics/x']) {
    assert.equal((await fetch(base + path)).status, 404, path);
  }
  assert.equal((await fetch(`${base}/metrics`, { method: 'POST' })).status, 404);
});

test('R-529: with a token they are on the callers’ port, for that token alone', async () => {
  const guarded = await Gateway.start({ settings: { TOLLGATE_METRICS_TOKEN: TOKEN } });
  try {
    assert.equal(guarded.metricsUrl, undefined);
    const { key } = await guarded.newCaller();
    for (const wrong of [undefined, key, ADMIN_TOKEN, `${TOKEN}x`, TOKEN.slice(1)]) {
      const answer = await guarded.call('GET', '/metrics', wrong === undefined ? {} : { key: wrong });
      assert.deepEqual([answer.status, answer.json.error.code], [404, 'not_found']);
    }
    const seen = await Scrape.of(`${guarded.url}/metrics`, TOKEN);
    assert.equal(seen.value('tollgate_processes', { role: 'serve' }), 1);
    assert.ok(!seen.text.includes(TOKEN));
  } finally {
    await guarded.stop();
  }
});

test('R-529: a port of their own with a token asks for it', async () => {
  const guarded = await Gateway.start({ settings: { TOLLGATE_METRICS_PORT: '0', TOLLGATE_METRICS_TOKEN: TOKEN } });
  try {
    const url = guarded.metricsUrl ?? '';
    assert.equal((await fetch(url)).status, 401);
    assert.equal((await fetch(url, { headers: { authorization: `Bearer ${TOKEN}x` } })).status, 401);
    assert.equal((await Scrape.of(url, TOKEN)).value('tollgate_processes', { role: 'serve' }), 1);
    assert.equal((await guarded.call('GET', '/metrics', { key: TOKEN })).status, 404);
  } finally {
    await guarded.stop();
  }
});

test('docs/operating.md lists every metric with its kind and labels, and no other', async () => {
  const text = readFileSync(new URL('../docs/operating.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `(tollgate_\w+)` \| (\w+) \|([^|]*)\|/gm)];
  const seen = await scrape();
  const kinds = [...seen.text.matchAll(/^# TYPE (tollgate_\w+) (\w+)$/gm)].map(([, name, kind]) => `${name} ${kind}`);
  assert.deepEqual(rows.map(([, name, kind]) => `${name} ${kind}`).sort(), kinds.sort());
  const labels = seen.labelsByName();
  for (const [, name = '', kind, list = ''] of rows) {
    const found = labels.get(kind === 'histogram' ? `${name}_bucket` : name);
    found?.delete('le');
    const documented = list.split(/[ `,]+/).filter((label) => label !== '');
    if (found !== undefined) assert.deepEqual([...found].sort(), documented.sort(), name);
  }
});

test('docs/operating.md lists every duty', async () => {
  const text = readFileSync(new URL('../docs/operating.md', import.meta.url), 'utf8');
  const { points } = await scrape();
  const names = points.flatMap(({ name, labels }) =>
    name === 'tollgate_duty_failures_total' ? [labels.duty ?? ''] : [],
  );
  assert.ok(names.length > 10);
  assert.deepEqual(
    names.filter((name) => !text.includes(`\`${name}\``)),
    [],
  );
});
