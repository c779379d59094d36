import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedRun } from './shared-run.ts';

type Run = ReturnType<typeof Promise.withResolvers<number>>;

function runs(): { readonly ask: () => Promise<number>; readonly begun: Run[] } {
  const begun: Run[] = [];
  const ask = sharedRun(() => {
    const run = Promise.withResolvers<number>();
    begun.push(run);
    return run.promise;
  });
  return { ask, begun };
}

test('calls that come while work is under way share one run that begins after it', async () => {
  const { ask, begun } = runs();
  const first = ask();
  const others = [ask(), ask(), ask()];
  assert.equal(begun.length, 1);
  begun[0]?.resolve(1);
  assert.equal(await first, 1);
  const late = ask();
  assert.equal(begun.length, 2);
  begun[1]?.resolve(2);
  assert.deepEqual(await Promise.all(others), [2, 2, 2]);
  begun[2]?.resolve(3);
  assert.equal(await late, 3);
  assert.equal(begun.length, 3);
});

test('work that fails fails for the calls that share it alone', async () => {
  const { ask, begun } = runs();
  const first = ask();
  const second = ask();
  begun[0]?.reject(new Error('gone'));
  await assert.rejects(first, /gone/);
  begun[1]?.resolve(2);
  assert.equal(await second, 2);
  const third = ask();
  begun[2]?.resolve(3);
  assert.equal(await third, 3);
});
