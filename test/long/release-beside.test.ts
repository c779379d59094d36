import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Rolled, roll, showRolled, THIS_TREE } from '../rolling/run.ts';
import { nextTree, type Tree, taggedTree } from '../rolling/trees.ts';
import { atEnd } from '../support/postgres.ts';

/** What a release may add: columns and tables that the one before does not know of, one of them in its hottest rows. */
const ADDS = `
  alter table open_jobs add column added text not null default 'x';
  alter table transcriptions add column added timestamptz not null default now();
  alter table jobs add column added text;
  alter table balances add column added text;
  create table added (id bigint generated always as identity primary key);
  create index added_since on jobs (created_at, id);`;
/** What it must not take away while the one before works: jobs become due by this column. */
const TAKES = 'alter table open_jobs rename column due_at to due;';

/** Three processes of one release replaced by those of the next, under load. One of the old ones is restarted meanwhile. */
async function replace(t: TestContext, before: string, next: Tree, restarts: number): Promise<Rolled> {
  atEnd(t, () => next.remove());
  const treeOf = (restart: number | 'first') => (restart === 'first' || restart === 1 ? before : next.path);
  return roll({ restarts, treeOf });
}

test('R-527: the release before works beside this one, also when it is started again, and no request fails', async (t) => {
  // From the first tag on, that release beside this one; until then, this one beside one that adds to its schema.
  const tagged = taggedTree();
  if (tagged !== undefined) atEnd(t, () => tagged.remove());
  const rolled = await replace(t, tagged?.path ?? THIS_TREE, nextTree(ADDS), 3);
  const { failures, complaints, balanced, spent, cost, reserved, done } = rolled;
  const outcome = { failures, complaints, balanced, spent, reserved };
  assert.deepEqual(
    outcome,
    { failures: [], complaints: [], balanced: true, spent: cost, reserved: 0 },
    showRolled(rolled),
  );
  for (const [work, count] of Object.entries(done)) assert.notEqual(count, 0, work);
});

test('a migration that takes away what the release before uses is found by this', async (t) => {
  const rolled = await replace(t, THIS_TREE, nextTree(TAKES), 1).catch(() => undefined);
  // Requests fail, or no process comes up at all.
  assert.notEqual(rolled?.failures.length, 0);
});
