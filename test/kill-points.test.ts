import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pino } from 'pino';
import { POINTS as AUDIO_POINTS } from '../packages/verify/src/audio/plan.ts';
import { POINTS as JOB_POINTS } from '../packages/verify/src/jobs/plan.ts';
import { KILL_POINTS, killPoint } from '../src/kill-point.ts';

const CALL = /\bkillPoint\(\s*[\w.#]+,\s*['`]([^'`]+)['`]/g;

test('every kill point stands in the program once, and every call names one', () => {
  const calls = globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(CALL)].map(([, name = '']) => ({ file, pattern: patternOf(name) })),
  );
  const counts = KILL_POINTS.map((point) => [point, calls.filter(({ pattern }) => pattern.test(point)).length]);
  assert.deepEqual(
    counts.filter(([, count]) => count !== 1),
    [],
  );
  const strays = calls.filter(({ pattern }) => !KILL_POINTS.some((point) => pattern.test(point)));
  assert.deepEqual(strays, []);
});

test('every kill point is met by a campaign', () => {
  const unmet = KILL_POINTS.filter((point) => !(point in JOB_POINTS) && !(point in AUDIO_POINTS));
  assert.deepEqual(unmet, []);
});

test('a kill point is written at trace level and at no other', () => {
  const lines: string[] = [];
  for (const level of ['trace', 'debug']) {
    killPoint(pino({ level }, { write: (line) => void lines.push(line) }), 'job.admission.before-commit', 'job_1');
  }
  assert.equal(lines.length, 1);
  const { kill_point, id } = JSON.parse(lines[0] ?? '{}');
  assert.deepEqual([kill_point, id], ['job.admission.before-commit', 'job_1']);
});

/** A call may leave the step to its outcome: job.end.${status}.before-commit. */
function patternOf(name: string): RegExp {
  return new RegExp(`^${name.replaceAll('.', '\\.').replace(/\$\{[^}]+\}/, '[a-z_]+')}$`);
}
