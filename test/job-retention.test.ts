import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowsOf, sweep, tracesOf } from './support/keeping.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { atEnd } from './support/postgres.ts';
import { IMAGES, Studio } from './support/studio.ts';

const DAY = 24 * 3600;
const image = { model: 'studio/queue', prompt: 'a gate' };

test('R-264: jobs that have ended go after the days of the setting, later than their keys, and their money stays', async (t) => {
  const studio = new Studio({ readsUntilDone: 1 });
  const settings = { TOLLGATE_JOB_DAYS: '40' };
  await studio.start({ settings });
  atEnd(t, () => studio.stop());
  const { gateway } = studio;
  const caller = await paidCaller(gateway);
  const { id } = await studio.create(caller, IMAGES, image, { 'idempotency-key': 'once' });
  assert.equal((await studio.ended(caller, id)).status, 'succeeded');
  const [money, jobPath] = [await moneyOf(gateway, caller), `/v1/jobs/${id}`];
  const { json: record } = await gateway.call('GET', jobPath, { key: caller.key });
  const requestId = (await rowsOf<{ id: string }>(gateway, 'select request_id as id from jobs'))[0]?.id;

  gateway.clock.advance(39 * DAY);
  await sweep(studio, settings);
  assert.deepEqual((await gateway.call('GET', jobPath, { key: caller.key })).json, record);
  assert.equal((await tracesOf(gateway, caller)).keys, 0);

  gateway.clock.advance(DAY + 60);
  await sweep(studio, settings);
  assert.equal((await gateway.call('GET', jobPath, { key: caller.key })).json.error.code, 'job_not_found');
  assert.equal((await gateway.call('GET', `${jobPath}/assets`, { key: caller.key })).json.error.code, 'job_not_found');
  const { jobs, reservations } = await tracesOf(gateway, caller);
  assert.deepEqual({ jobs, reservations }, { jobs: 0, reservations: 1 });
  const left = await rowsOf(gateway, 'select job_id from job_attempts union all select job_id from job_assets');
  assert.deepEqual(left, []);
  assert.deepEqual(await moneyOf(gateway, caller), money);
  const request = await gateway.call('GET', `/v1/requests/${requestId}`, { key: caller.key });
  assert.equal(request.json.credits, money.spent);
  await gateway.assertBooksBalance();
});

test('jobs without a setting, and jobs that have not ended, stay', async (t) => {
  const studio = new Studio({ readsUntilDone: 1 });
  await studio.start();
  atEnd(t, () => studio.stop());
  const { gateway } = studio;
  const caller = await paidCaller(gateway);
  const { id } = await studio.create(caller, IMAGES, image);
  assert.equal((await studio.ended(caller, id)).status, 'succeeded');
  gateway.clock.advance(4_000 * DAY);
  await sweep(studio);
  assert.equal((await tracesOf(gateway, caller)).jobs, 1);
  // As of a job that hangs: it is as old, and has no end.
  await rowsOf(
    gateway,
    "update jobs set status = 'running', finished_at = null, charged = null where id = $1 returning id",
    [id],
  );
  await sweep(studio, { TOLLGATE_JOB_DAYS: '40' });
  assert.equal((await tracesOf(gateway, caller)).jobs, 1);
});
