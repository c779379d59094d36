import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdleDetector } from './memory.ts';

const CALM = 0.05;
const BUSY = 0.0501;

/** How many calm samples it takes until it counts as idle. */
function samplesUntilIdle(idle: IdleDetector): number {
  for (let looks = 1; looks <= 1000; looks++) {
    idle.sample(CALM);
    if (idle.isIdle) return looks;
  }
  throw new Error('never');
}

function rested(): IdleDetector {
  const idle = new IdleDetector();
  samplesUntilIdle(idle);
  return idle;
}

test('a rest is long after a minute', () => {
  assert.equal(samplesUntilIdle(new IdleDetector()), 60);
  const idle = rested();
  assert.equal(samplesUntilIdle(idle), 1);
});

test('a busy second in it costs twenty more, not all', () => {
  const idle = rested();
  idle.sample(BUSY);
  assert.ok(!idle.isIdle);
  assert.equal(samplesUntilIdle(idle), 20);
});

test('a rush of three seconds or more costs a minute, however long the rest before it was', () => {
  for (const seconds of [3, 1000]) {
    const idle = rested();
    for (let second = 0; second < 3600; second++) idle.sample(CALM);
    for (let second = 0; second < seconds; second++) idle.sample(BUSY);
    assert.equal(samplesUntilIdle(idle), 60);
  }
});

test('work that comes every other second is no rest', () => {
  const idle = rested();
  for (let turn = 0; turn < 1000; turn++) {
    idle.sample(BUSY);
    assert.ok(!idle.isIdle);
    idle.sample(CALM);
    assert.ok(!idle.isIdle);
  }
});
