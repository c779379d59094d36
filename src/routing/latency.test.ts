import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LATENCIES_MAX, LATENCY_HALF_LIFE_MS, LATENCY_TRIAL_MS } from '../routing-limits.ts';
import { Latencies, Latency } from './latency.ts';

test('a latency that is one half-life old counts half', () => {
  const latency = new Latency();
  latency.note(300, 0);
  latency.note(0, LATENCY_HALF_LIFE_MS);
  assert.equal(latency.meanMs, 100);
});

test('samples of one moment count alike, and the mean stands still while nothing is measured', () => {
  const latency = new Latency();
  for (const ms of [100, 200, 600]) latency.note(ms, 5_000);
  assert.equal(latency.meanMs, 300);
  latency.note(300, 5_000 + 50 * LATENCY_HALF_LIFE_MS);
  assert.equal(latency.meanMs, 300);
});

const samples = fc.array(fc.record({ ms: fc.nat(600_000), later: fc.integer({ min: -5_000, max: 3_600_000 }) }), {
  minLength: 1,
});

test('whatever is measured and however the clock moves, the mean lies between the least and the most', () => {
  fc.assert(
    fc.property(samples, (measured) => {
      const latency = new Latency();
      let nowMs = 1_000_000;
      for (const { ms, later } of measured) {
        nowMs += later;
        latency.note(ms, nowMs);
      }
      const all = measured.map(({ ms }) => ms);
      const mean = latency.meanMs ?? Number.NaN;
      assert.ok(mean >= Math.min(...all) - 1e-6 && mean <= Math.max(...all) + 1e-6, String(mean));
    }),
  );
});

test('an upstream that was slow is measured as fast again after a few half-lives of fast answers', () => {
  const latency = new Latency();
  for (let answer = 0; answer < 1000; answer++) latency.note(10_000, answer);
  for (let minute = 1; minute <= 20; minute++) latency.note(100, minute * LATENCY_HALF_LIFE_MS);
  assert.ok((latency.meanMs ?? 0) < 120, String(latency.meanMs));
});

test('what failed raises the mean where it took longer, and never lowers it or makes the first figure', () => {
  const latency = new Latency();
  latency.noteAtLeast(1, 0);
  assert.equal(latency.meanMs, undefined);
  latency.note(100, 0);
  latency.noteAtLeast(10, 0);
  assert.equal(latency.meanMs, 100);
  latency.noteAtLeast(300, 0);
  assert.equal(latency.meanMs, 200);
});

test('a trial is due until one begins, again after a time, and never once there is a figure', () => {
  const latency = new Latency();
  assert.ok(latency.isDueForTrial(0));
  latency.begin(0);
  assert.ok(!latency.isDueForTrial(LATENCY_TRIAL_MS - 1));
  assert.ok(latency.isDueForTrial(LATENCY_TRIAL_MS));
  latency.note(5, LATENCY_TRIAL_MS);
  assert.ok(!latency.isDueForTrial(10 * LATENCY_TRIAL_MS));
});

test('streams and whole results have figures of their own, and no more are kept than the bound', () => {
  const latencies = new Latencies();
  const first = latencies.at('up', 'm', 'first piece');
  assert.notEqual(first, latencies.at('up', 'm', 'result'));
  assert.equal(first, latencies.at('up', 'm', 'first piece'));
  for (let model = 0; model < LATENCIES_MAX; model++) latencies.at('up', `m${model}`, 'result');
  assert.notEqual(first, latencies.at('up', 'm', 'first piece'));
});
