import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Attempt, type LeasedJob, missing, nextStep, type Step } from './job.ts';

const CREATED = new Date('2030-01-15T12:00:00Z');
const later = (seconds: number) => new Date(CREATED.getTime() + seconds * 1000);

function attempt(state: Attempt['state'], count = 1, startedAfter = 0): Attempt {
  return {
    number: 0,
    upstreamId: 'one',
    upstreamModel: 'm',
    count,
    state,
    task: null,
    outputs: null,
    collected: null,
    errorCode: null,
    detail: null,
    tries: 0,
    startedAt: later(startedAfter),
    updatedAt: later(startedAfter),
  };
}

function job(
  status: 'queued' | 'running',
  wanted: number,
  kind: 'image' | 'video' | 'audio' = 'image',
): LeasedJob['job'] {
  const asked = { kind, model: 'm' } as LeasedJob['job']['request'];
  return {
    id: 'job_0123456789',
    accountId: 'acct_1',
    kind,
    model: 'm',
    status,
    progress: 0,
    createdAt: CREATED,
    updatedAt: null,
    acceptedAt: status === 'running' ? later(1) : null,
    finishedAt: null,
    dispatchDeadlineAt: later(600),
    errorCode: null,
    charged: null,
    groups: ['default'],
    endpoint: 'images',
    wanted,
    requestId: 'req_1',
    reservationId: 'r',
    request: asked,
    estimate: {},
  };
}

const rows: [Step, string, LeasedJob['job'], Attempt[], number][] = [
  ['dispatch', 'a new job is sent', job('queued', 1), [], 0],
  ['dispatch', 'a refused one is sent elsewhere', job('queued', 1), [attempt('refused')], 30],
  ['dispatch', 'R-210: up to the last moment before the deadline', job('queued', 1), [], 599.999],
  ['expire', 'R-206: not sent by the deadline, it expires', job('queued', 1), [attempt('refused')], 600],
  ['recover', 'a call without an answer is looked into first', job('queued', 1), [attempt('calling')], 700],
  ['poll', 'R-198: an accepted one is asked after', job('running', 1), [attempt('accepted')], 5],
  ['poll', 'R-210: also long after the deadline', job('running', 1, 'video'), [attempt('accepted', 1, 599)], 7000],
  ['poll', 'R-213: an image just before its limit', job('running', 1), [attempt('accepted')], 899.999],
  ['give up', 'R-213: an image after 15 minutes', job('running', 1), [attempt('accepted')], 900],
  ['poll', 'R-213: music just before its limit', job('running', 1, 'audio'), [attempt('accepted')], 1799],
  ['give up', 'R-213: music after 30 minutes', job('running', 1, 'audio'), [attempt('accepted')], 1800],
  ['give up', 'R-213: a video after 120 minutes', job('running', 1, 'video'), [attempt('accepted')], 7200],
  ['collect', 'results are brought home', job('running', 1), [attempt('ready')], 5],
  ['collect', 'even after the limit', job('running', 1), [attempt('ready')], 2000],
  ['end', 'R-199: what is stored is done', job('running', 1), [attempt('collected')], 5],
  ['end', 'R-203: what has failed is over', job('running', 1), [attempt('failed')], 5],
  ['end', 'R-205: also when nobody had accepted it', job('queued', 1), [attempt('failed')], 5],
  ['poll', 'one of three still works', job('running', 3), [attempt('collected', 2), attempt('accepted')], 5],
  [
    'end',
    'two of three are delivered, one is refused',
    job('running', 3),
    [attempt('collected', 2), attempt('refused')],
    5,
  ],
  ['dispatch', 'nobody took the second half yet', job('queued', 3), [attempt('refused', 2), attempt('refused')], 5],
];

for (const [step, name, leased, attempts, seconds] of rows) {
  test(`${name}: ${step}`, () => {
    assert.equal(nextStep({ job: leased, attempts }, later(seconds), { image: 15, audio: 30, video: 120 }), step);
  });
}

test('what was refused is missing again, whatever else became of the rest', () => {
  assert.equal(missing({ wanted: 5 }, [attempt('refused', 5)]), 5);
  assert.equal(missing({ wanted: 5 }, [attempt('accepted', 2), attempt('failed', 1), attempt('refused', 2)]), 2);
});
