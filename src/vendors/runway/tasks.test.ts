import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage, plainVideo } from '../../../test/support/plain-requests.ts';
import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { json } from '../emulator/json.ts';
import type { Upstream } from '../kit/http.ts';
import { isFault, KEY, submit, withEmulator } from './emulator/calls.ts';
import { work as runway } from './work.ts';

const begin = (upstream: Upstream) => submit(runway.video, plainVideo({ prompt: 'Waves' }), upstream);
const poll = async (task: JsonObject, upstream: Upstream) => runway.video?.poll?.(task, upstream);

test('a task waits, runs, ends with its clip and tells what it cost', () =>
  withEmulator(async ({ emulator, upstream }) => {
    emulator.readsUntilDone = 2;
    const task = await begin(upstream);
    assert.deepEqual(task, { id: 'task-1', cost: 5 });
    assert.deepEqual(await poll(task, upstream), { state: 'running', pollAfterMs: 5000 });
    assert.deepEqual(await poll(task, upstream), { state: 'running', percent: 40, pollAfterMs: 5000 });
    const outputs = [{ url: `${emulator.url}/outputs/task-1/0?_jwt=s` }];
    assert.deepEqual(await poll(task, upstream), { state: 'succeeded', outputs, usage: { credits: 5 } });
  }));

test('a task that the account’s own limit holds back is accepted, and running', () =>
  withEmulator(async ({ emulator, upstream }) => {
    emulator.isThrottled = true;
    assert.deepEqual(await poll(await begin(upstream), upstream), { state: 'running', pollAfterMs: 5000 });
  }));

test('a task of several pictures has as many results', () =>
  withEmulator(async ({ emulator, upstream }) => {
    emulator.readsUntilDone = 0;
    const task = await submit(runway.image, plainImage({ n: 3 }), { ...upstream, model: 'gpt_image_2' }, { count: 3 });
    const progress = await poll(task, upstream);
    assert.ok(progress?.state === 'succeeded');
    assert.deepEqual([progress.outputs.length, progress.usage], [3, { credits: 15 }]);
  }));

test('where the end does not tell the cost, the estimate counts', () =>
  withEmulator(async ({ emulator, upstream }) => {
    const task = await begin(upstream);
    emulator.script({
      kind: 'instead',
      ...json(200, { id: 't', status: 'SUCCEEDED', output: ['https://f.example/a'] }),
    });
    const outputs = [{ url: 'https://f.example/a' }];
    assert.deepEqual(await poll(task, upstream), { state: 'succeeded', outputs, usage: { credits: 5 } });
  }));

describe('what became of a task', () => {
  for (const [failureCode, code] of [
    ['SAFETY.INPUT.TEXT', 'content_rejected'],
    ['SAFETY.OUTPUT.AUDIO', 'content_rejected'],
    ['INPUT_PREPROCESSING.SAFETY.TEXT', 'content_rejected'],
    ['INPUT_PREPROCESSING.ASPECT_RATIO', 'upstream_rejected'],
    ['INPUT_PREPROCESSING.INTERNAL', 'upstream_failed'],
    ['ASSET.INVALID', 'upstream_rejected'],
    ['INTERNAL.BAD_OUTPUT.CODE01', 'upstream_failed'],
    ['INTERNAL', 'upstream_failed'],
    ['NEW.CODE', 'upstream_failed'],
    [undefined, 'upstream_failed'],
  ] as const) {
    test(`${failureCode} is ${code}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        emulator.readsUntilDone = 0;
        emulator.endings.push({ failureCode });
        const detail = JSON.stringify({ status: 'FAILED', failureCode, failure: 'marker of a failure' });
        assert.deepEqual(await poll(await begin(upstream), upstream), { state: 'failed', code, detail });
      }));
  }

  test('one that was cancelled at the vendor has failed', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.readsUntilDone = 0;
      emulator.endings.push('CANCELLED');
      assert.equal((await poll(await begin(upstream), upstream))?.state, 'failed');
    }));

  test('one that the vendor does not know is lost', () =>
    withEmulator(async ({ upstream }) => {
      const detail = 'the task is lost: 404';
      assert.deepEqual(await poll({ id: 'gone' }, upstream), { state: 'failed', code: 'upstream_failed', detail });
    }));

  const GARBLED: readonly object[] = [
    { id: 't', status: 'SUCCEEDED', output: [] },
    { id: 't', status: 'SUCCEEDED', output: [''] },
    { id: 't', status: 'SUCCEEDED' },
    { id: 't', status: 'DREAMING' },
    { id: 't' },
  ];
  for (const body of GARBLED) {
    test(`${JSON.stringify(body)} is garbled`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        const task = await begin(upstream);
        emulator.script({ kind: 'instead', ...json(200, body) });
        await assert.rejects(poll(task, upstream), isFault('garbled'));
      }));
  }
});

describe('a refusal is known by its body', () => {
  const REFUSALS: readonly [status: number, body: object, fault: Fault][] = [
    [400, { error: 'You do not have enough credits to run this task.' }, 'account'],
    [403, { error: 'Insufficient credits' }, 'account'],
    [429, { error: 'You are out of credits' }, 'account'],
    [429, { error: 'You have reached the daily limit.' }, 'rate'],
    [400, { error: 'The prompt was rejected by content moderation.' }, 'policy'],
    [400, { error: 'x', failureCode: 'SAFETY.INPUT.TEXT' }, 'policy'],
    [400, { error: 'Validation of body failed', issues: [{ message: 'moderated' }] }, 'client'],
    [503, { error: 'content moderation is not available' }, 'server'],
    [401, { error: 'The API key is not valid.' }, 'account'],
    [404, { error: 'Not found' }, 'config'],
    [502, { error: '' }, 'server'],
  ];
  for (const [status, body, fault] of REFUSALS) {
    test(`${status} with ${JSON.stringify(body)} is ${fault}, and certain`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        emulator.script({ kind: 'instead', ...json(status, body) });
        await assert.rejects(begin(upstream), isFault(fault, { isUncertain: false }));
      }));
  }

  test('an account without credits, and one that may begin no more tasks today', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.tasksLeft = 0;
      await assert.rejects(begin(upstream), isFault('rate'));
      emulator.credits = 0;
      await assert.rejects(begin(upstream), isFault('account'));
    }));

  for (const fault of ['reset', 'reset in the answer'] as const) {
    test(`a ${fault} after acceptance leaves it uncertain`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        emulator.script({ kind: 'fault', fault });
        await assert.rejects(begin(upstream), isFault('connection', { isUncertain: true }));
      }));
  }

  test('a task without an id is garbled, and may have been accepted', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.script({ kind: 'instead', ...json(200, { estimatedCost: { credits: 5 } }) });
      await assert.rejects(begin(upstream), isFault('garbled', { isUncertain: true }));
    }));

  test('an id cannot lead to another route, nor the key to another host', () =>
    withEmulator(async ({ emulator, upstream }) => {
      await poll({ id: '../organization' }, upstream);
      await poll({ id: 'x', statusUrl: 'https://evil.example/' }, upstream);
      assert.deepEqual(
        emulator.requests.map(({ path, headers }) => [path, headers.authorization]),
        [
          ['/v1/tasks/..%2Forganization', `Bearer ${KEY}`],
          ['/v1/tasks/x', `Bearer ${KEY}`],
        ],
      );
    }));
});
