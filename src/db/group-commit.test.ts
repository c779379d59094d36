import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseUnavailable } from './errors.ts';
import { GroupCommit } from './group-commit.ts';

/** Records its rounds, which end when `release` is called. */
function recorder(isBad: (member: number) => boolean = () => false) {
  const rounds: (readonly number[])[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const run = async (members: readonly number[]) => {
    rounds.push(members);
    await released;
    if (members.some(isBad)) throw new Error(`bad: ${members.join()}`);
    return members.map((member) => member * 10);
  };
  return { rounds, run, release };
}

test('members added while a round runs form the next, up to the most of a round', async () => {
  const { run, rounds, release } = recorder();
  const commits = new GroupCommit(run, 3);
  const first = [commits.add(1), commits.add(2)];
  await nextTurn();
  await nextTurn();
  const others = [3, 4, 5, 6].map((member) => commits.add(member));
  assert.deepEqual([rounds.length, commits.size], [1, 6]);
  release();
  assert.deepEqual(await Promise.all([...first, ...others]), [10, 20, 30, 40, 50, 60]);
  assert.deepEqual(rounds, [[1, 2], [3, 4, 5], [6]]);
  assert.equal(commits.size, 0);
});

test('several rounds run at a time where that is allowed, and no more', async () => {
  const { run, rounds, release } = recorder();
  const commits = new GroupCommit(run, 1, 0, 2);
  const results = [1, 2, 3].map((member) => commits.add(member));
  for (let turn = 0; turn < 6; turn++) await nextTurn();
  assert.deepEqual(rounds, [[1], [2]]);
  release();
  assert.deepEqual(await Promise.all(results), [10, 20, 30]);
});

test('a deferred member joins the next round, starts one by itself in the end, or when it is told to', async () => {
  const { run, rounds, release } = recorder();
  const commits = new GroupCommit(run, 8);
  release();
  const joining = commits.defer(1, 60_000);
  await nextTurn();
  await nextTurn();
  assert.deepEqual([rounds.length, commits.size], [0, 1]);
  assert.deepEqual(await Promise.all([commits.add(2), joining]), [20, 10]);
  assert.equal(await commits.defer(3, 1), 30);
  const flushed = commits.defer(4, 60_000);
  commits.flush();
  assert.equal(await flushed, 40);
  assert.deepEqual(rounds, [[1, 2], [3], [4]]);
});

test('a member that fails is found by bisection, and the others are answered', async () => {
  const { run, rounds, release } = recorder((member) => member === 3);
  const commits = new GroupCommit(run, 8);
  const results = Promise.allSettled([1, 2, 3, 4].map((member) => commits.add(member)));
  release();
  assert.deepEqual(
    (await results).map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason))),
    [10, 20, 'Error: bad: 3', 40],
  );
  assert.deepEqual(rounds, [[1, 2, 3, 4], [1, 2], [3, 4], [3], [4]]);
  assert.equal(commits.size, 0);
});

test('a round that meets an outage fails as a whole, and is not tried again', async () => {
  const commits = new GroupCommit(async (): Promise<number[]> => {
    throw new DatabaseUnavailable('away');
  }, 8);
  const results = await Promise.allSettled([commits.add(1), commits.add(2)]);
  for (const result of results) assert.ok(result.status === 'rejected' && result.reason instanceof DatabaseUnavailable);
  assert.equal(commits.size, 0);
});
