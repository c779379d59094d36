import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { smallPng } from '../src/vendors/fal/emulator/files.ts';
import { silentLog } from './support/database.ts';
import { form } from './support/forms.ts';
import { crowd, rowsOf, storedFiles, sweep, tracesOf } from './support/keeping.ts';
import { lockAccount } from './support/ledger.ts';
import { until } from './support/postgres.ts';
import { IMAGE_PRICE, imageModel, Studio } from './support/studio.ts';

test('R-274: a picture that was deleted before its job was admitted refuses that job alone, and leaves no file', async (t) => {
  const studio = new Studio();
  await studio.start();
  t.after(() => studio.stop());
  const { gateway } = studio;
  const edit = imageModel('studio/edit', [{ upstream: 'queue', model: 'fal-ai/flux-2/edit' }]);
  await gateway.putConfig(studio.document({}, [edit]));
  const caller = await crowd(gateway, 100 * IMAGE_PRICE);
  const { raw, headers } = form([
    { name: 'model', value: 'studio/edit' },
    { name: 'prompt', value: 'a gate' },
    { name: 'image', fileName: 'gate.png', bytes: smallPng() },
  ]);
  const db = openDb(gateway.database.address, silentLog);
  t.after(() => db.close());

  // The first to come waits for the lock; the other two are the batch after it.
  const lock = await lockAccount(db, caller.accountId);
  const sent = Array.from({ length: 3 }, () =>
    gateway.call('POST', '/v1/images/edits', { key: caller.key, raw, headers }),
  );
  await until(() => storedFiles(gateway).length === 3);
  const forgotten = await rowsOf<{ key: string }>(
    gateway,
    `delete from stored_objects where key = (select max(key) from stored_objects where account_id = $1) returning key`,
    [caller.accountId],
  );
  await lock.release().catch(() => undefined);

  const answers = await Promise.all(sent);
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [202, 202, 503],
  );
  assert.equal(answers.find(({ status }) => status === 503)?.json.error.code, 'job_service_unavailable');
  const { jobs, reservations } = await tracesOf(gateway, caller);
  assert.deepEqual({ jobs, reservations }, { jobs: 2, reservations: 2 });
  await sweep(studio);
  assert.equal(storedFiles(gateway).filter((path) => path.includes(forgotten[0]?.key ?? '')).length, 0);
  assert.equal(storedFiles(gateway).length, 2);
  await gateway.assertBooksBalance();
});
