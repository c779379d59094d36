import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fault } from '../../errors.ts';
import { json } from '../emulator/json.ts';
import { isFault, poll, submit, video, withEmulator } from './emulator/calls.ts';
import type { Ending } from './emulator.ts';

test('a task waits, runs and ends with its clip and what it took', () =>
  withEmulator(async (emulator, upstream) => {
    emulator.readsUntilDone = 2;
    const task = await submit(upstream, { extra: { return_last_frame: true } });
    assert.deepEqual(task, { id: 'cgt-1' });
    for (const _ of [1, 2]) assert.deepEqual(await poll(task, upstream), { state: 'running' });
    assert.deepEqual(await poll(task, upstream), {
      state: 'succeeded',
      outputs: [
        { url: `${emulator.origin}/files/clip?sign=s` },
        { url: `${emulator.origin}/files/picture?sign=s`, isThumbnail: true },
      ],
      usage: { outputTokens: 108_900, seconds: 5 },
    });
  }));

describe('what became of a task', () => {
  const ENDINGS: readonly (readonly [ending: Ending, code: string])[] = [
    ['cancelled', 'upstream_failed'],
    ['canceled', 'upstream_failed'],
    ['expired', 'upstream_failed'],
    [{ code: 'OutputVideoSensitiveContentDetected.PolicyViolation' }, 'content_rejected'],
    [{ code: 'InputImageSensitiveContentDetected' }, 'content_rejected'],
    [{ code: 'InvalidParameter.Duration' }, 'upstream_rejected'],
    [{ code: 'AccountOverdueError' }, 'upstream_failed'],
    [{ code: 'InternalServiceError' }, 'upstream_failed'],
    [{ code: 'SomethingNew' }, 'upstream_failed'],
  ];
  for (const [ending, code] of ENDINGS) {
    test(`${JSON.stringify(ending)} is ${code}`, () =>
      withEmulator(async (emulator, upstream) => {
        emulator.readsUntilDone = 0;
        emulator.endings.push(ending);
        const progress = await poll(await submit(upstream), upstream);
        assert.ok(progress?.state === 'failed');
        assert.equal(progress.code, code);
      }));
  }

  test('one that is not known any more has failed', () =>
    withEmulator(async (_emulator, upstream) => {
      const detail = 'the task is lost: 404';
      assert.deepEqual(await poll({ id: 'gone' }, upstream), { state: 'failed', code: 'upstream_failed', detail });
    }));

  for (const body of [{ id: 't', status: 'dreaming' }, { id: 't', status: 'succeeded', content: {} }, { id: 't' }]) {
    test(`${JSON.stringify(body)} is garbled`, () =>
      withEmulator(async (emulator, upstream) => {
        const task = await submit(upstream);
        emulator.script({ kind: 'instead', ...json(200, body) });
        await assert.rejects(poll(task, upstream), isFault('garbled'));
      }));
  }
});

describe('a refusal is known by its body', () => {
  const REFUSALS: readonly (readonly [status: number, code: string, message: string, fault: Fault])[] = [
    [400, 'MissingParameter.prompt', 'x', 'client'],
    [400, 'InvalidParameter', 'x', 'client'],
    [400, 'InvalidParameter.OversizedImage', 'x', 'unfit'],
    [400, 'InvalidParameter.UnsupportedImageFormat', 'x', 'unfit'],
    [400, 'SensitiveContentDetected.SevereViolation', 'x', 'policy'],
    [400, 'InputVideoSensitiveContentDetected', 'x', 'policy'],
    [400, 'InvalidEndpoint.ClosedEndpoint', 'x', 'config'],
    [404, 'InvalidEndpointOrModel.ModelIDAccessDisabled', 'x', 'config'],
    [404, 'ModelNotOpen', 'x', 'config'],
    [401, 'AuthenticationError', 'x', 'account'],
    [403, 'AccountOverdueError', 'x', 'account'],
    [400, 'AccountOverdueError', 'x', 'account'],
    [403, 'OperationDenied.ServiceOverdue', 'x', 'account'],
    [403, 'AccessDenied', 'x', 'account'],
    [400, 'SomethingNew', 'The account has an overdue balance', 'account'],
    [429, 'QuotaExceeded', 'The free trial of the model is used up', 'account'],
    [429, 'QuotaExceeded', 'Too many tasks in the queue', 'rate'],
    [429, 'RateLimitExceeded.EndpointRPMExceeded', 'x', 'rate'],
    [429, 'ModelAccountRpmRateLimitExceeded', 'x', 'rate'],
    [429, 'ServerOverloaded', 'x', 'rate'],
    [500, 'InternalServiceError', 'insufficient balance of load', 'server'],
    [503, 'SomethingNew', 'x', 'server'],
  ];
  for (const [status, code, message, fault] of REFUSALS) {
    test(`${status} ${code} (${message}) is ${fault}, and certain`, () =>
      withEmulator(async (emulator, upstream) => {
        emulator.script({ kind: 'instead', ...json(status, { error: { code, message } }) });
        await assert.rejects(submit(upstream), isFault(fault, { isUncertain: false }));
      }));
  }

  test('what the vendor refuses by itself: a key, a model, a field, a debt, a full queue, words', () =>
    withEmulator(async (emulator, upstream) => {
      await assert.rejects(submit({ ...upstream, apiKey: 'x' }), isFault('account'));
      await assert.rejects(submit({ ...upstream, model: 'ep-1' }), isFault('config'));
      await assert.rejects(submit(upstream, { extra: { odd: 1 } }), isFault('client'));
      await assert.rejects(submit(upstream, { prompt: emulator.forbidden }), isFault('policy'));
      emulator.activeMax = 0;
      await assert.rejects(submit(upstream), isFault('rate'));
      emulator.isOverdue = true;
      await assert.rejects(submit(upstream), isFault('account'));
      assert.equal(emulator.tasks.length, 0);
    }));
});

describe('a submission whose answer was lost', () => {
  for (const fault of ['reset', 'reset in the answer', 'garbage'] as const) {
    test(`is uncertain after a ${fault}`, () =>
      withEmulator(async (emulator, upstream) => {
        emulator.script({ kind: 'fault', fault });
        await assert.rejects(submit(upstream), isFault('connection', { isUncertain: true }));
        assert.equal(emulator.tasks.length, 1);
      }));
  }

  test('is not looked for: no task bears a name of its client', () => assert.ok(!('adopt' in video)));
});
