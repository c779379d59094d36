import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atMost, TurnTimeout } from './at-most.ts';

/** Work that goes on until it is ended, and notes when it began. */
function works(count: number) {
  const begun: number[] = [];
  const all = Array.from({ length: count }, (_, index) => {
    const ended = Promise.withResolvers<number>();
    const work = () => {
      begun.push(index);
      return ended.promise;
    };
    return { work, end: () => ended.resolve(index), fail: () => ended.reject(new Error(`work ${index}`)) };
  });
  return { begun, all };
}

const turn = () => new Promise(setImmediate);

test('at most so much is under way, the rest in its order, and a failure hands its turn on', async () => {
  const { begun, all } = works(5);
  const [first, second, third, fourth, last] = all;
  assert.ok(first && second && third && fourth && last);
  const run = atMost(2, 60_000);
  const results = Promise.allSettled(all.map(({ work }) => run(work)));
  await turn();
  assert.deepEqual(begun, [0, 1]);
  second.fail();
  await turn();
  assert.deepEqual(begun, [0, 1, 2]);
  first.end();
  third.end();
  await turn();
  assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  fourth.end();
  last.end();
  assert.deepEqual(
    (await results).map((result) => (result.status === 'fulfilled' ? result.value : 'failed')),
    [0, 'failed', 2, 3, 4],
  );
  const { begun: again, all: later } = works(3);
  const rest = Promise.all(later.map(({ work }) => run(work)));
  await turn();
  assert.deepEqual(again, [0, 1], 'every turn came back');
  for (const { end } of later) end();
  assert.deepEqual(await rest, [0, 1, 2]);
});

test('who waits too long is refused, and takes no turn later', async () => {
  const { begun, all } = works(3);
  const [first, second, third] = all;
  assert.ok(first && second && third);
  const run = atMost(1, 1);
  const running = run(first.work);
  await assert.rejects(run(second.work), TurnTimeout);
  first.end();
  assert.equal(await running, 0);
  const after = run(third.work);
  assert.deepEqual(begun, [0, 2]);
  third.end();
  assert.equal(await after, 2);
});
