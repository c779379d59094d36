import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rest } from './memory.ts';

const CALM = 0.05;
const BUSY = 0.0501;

/** How many calm looks it takes until it is a long rest. */
function untilLong(rest: Rest): number {
  for (let looks = 1; looks <= 1000; looks++) {
    rest.look(CALM);
    if (rest.isLong) return looks;
  }
  throw new Error('never');
}

function rested(): Rest {
  const rest = new Rest();
  untilLong(rest);
  return rest;
}

test('a rest is long after a minute', () => {
  assert.equal(untilLong(new Rest()), 60);
  const rest = rested();
  assert.equal(untilLong(rest), 1);
});

test('a busy second in it costs twenty more, not all', () => {
  const rest = rested();
  rest.look(BUSY);
  assert.ok(!rest.isLong);
  assert.equal(untilLong(rest), 20);
});

test('a rush of three seconds or more costs a minute, however long the rest before it was', () => {
  for (const seconds of [3, 1000]) {
    const rest = rested();
    for (let second = 0; second < 3600; second++) rest.look(CALM);
    for (let second = 0; second < seconds; second++) rest.look(BUSY);
    assert.equal(untilLong(rest), 60);
  }
});

test('work that comes every other second is no rest', () => {
  const rest = rested();
  for (let turn = 0; turn < 1000; turn++) {
    rest.look(BUSY);
    assert.ok(!rest.isLong);
    rest.look(CALM);
    assert.ok(!rest.isLong);
  }
});
