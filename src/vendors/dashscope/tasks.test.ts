import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { json } from '../emulator/json.ts';
import type { Upstream } from '../index.ts';
import { film, isFault, poll, withEmulator } from './emulator/calls.ts';
import type { DashscopeEmulator } from './emulator.ts';
import { wire } from './wire.ts';

const run = (test: (emulator: DashscopeEmulator, upstream: Upstream) => Promise<void>) =>
  withEmulator('wan2.7-t2v', test);

describe('a task', () => {
  test('waits, runs and ends with its clip and its length', () =>
    run(async (emulator, upstream) => {
      emulator.readsUntilDone = 2;
      const task = await film(upstream);
      for (const _ of [1, 2]) assert.deepEqual(await poll(task, upstream), { state: 'running' });
      const outputs = [{ url: `${emulator.origin}/files/clip?Signature=s` }];
      assert.deepEqual(await poll(task, upstream), { state: 'succeeded', outputs, usage: { seconds: 5 } });
      assert.equal(emulator.requests.at(-1)?.path, '/api/v1/tasks/task-1');
    }));

  test('that is held up still runs', () =>
    run(async (emulator, upstream) => {
      const task = await film(upstream);
      emulator.script({ kind: 'instead', ...json(200, { output: { task_id: 'task-1', task_status: 'SUSPENDED' } }) });
      assert.deepEqual(await poll(task, upstream), { state: 'running' });
    }));

  test('tells its length in either of two places', () =>
    run(async (emulator, upstream) => {
      const task = await film(upstream);
      const output = { task_status: 'SUCCEEDED', video_url: 'https://files.example/a' };
      emulator.script({ kind: 'instead', ...json(200, { output, usage: { duration: 4 } }) });
      const outputs = [{ url: 'https://files.example/a' }];
      assert.deepEqual(await poll(task, upstream), { state: 'succeeded', outputs, usage: { seconds: 4 } });
    }));

  for (const [code, public_code] of [
    ['DataInspectionFailed', 'content_rejected'],
    ['IPInfringementSuspect', 'content_rejected'],
    ['InvalidParameter.DataInspection', 'upstream_rejected'],
    ['InvalidParameter', 'upstream_rejected'],
    ['InvalidURL', 'upstream_rejected'],
    ['InternalError.Algo', 'upstream_failed'],
    ['Arrearage', 'upstream_failed'],
    ['never.seen', 'upstream_failed'],
  ] as const) {
    test(`that fails with ${code} is ${public_code}`, () =>
      run(async (emulator, upstream) => {
        emulator.readsUntilDone = 0;
        emulator.endings.push({ code });
        const detail = `{"status":"FAILED","code":"${code}","message":"marker"}`;
        assert.deepEqual(await poll(await film(upstream), upstream), { state: 'failed', code: public_code, detail });
      }));
  }

  test('that was canceled has failed', () =>
    run(async (emulator, upstream) => {
      emulator.readsUntilDone = 0;
      emulator.endings.push('CANCELED');
      const progress = await poll(await film(upstream), upstream);
      assert.ok(progress?.state === 'failed' && progress.code === 'upstream_failed', JSON.stringify(progress));
    }));

  test('that the vendor does not know any more is lost, and its id cannot lead to another route', () =>
    run(async (emulator, upstream) => {
      for (const id of ['task-9', '../uploads']) {
        const progress = await poll({ id }, upstream);
        assert.ok(progress?.state === 'failed' && progress.code === 'upstream_failed', JSON.stringify(progress));
        assert.match(progress.detail, /lost/);
      }
      assert.equal(emulator.requests.at(-1)?.path, '/api/v1/tasks/..%2Fuploads');
      for (const status of [404, 410]) {
        emulator.script({ kind: 'instead', ...json(status, {}) });
        const progress = await poll({ id: 'task-9' }, upstream);
        assert.ok(progress?.state === 'failed', String(status));
      }
    }));

  const GARBLED: readonly JsonObject[] = [
    {},
    { output: {} },
    { output: { task_status: 'DREAMING' } },
    { output: { task_status: 'SUCCEEDED' } },
    { output: { task_status: 'SUCCEEDED', video_url: '' } },
    { task_status: 'SUCCEEDED', video_url: 'https://files.example/a' },
  ];
  for (const body of GARBLED) {
    test(`told as ${JSON.stringify(body)} is garbled`, () =>
      run(async (emulator, upstream) => {
        const task = await film(upstream);
        emulator.script({ kind: 'instead', ...json(200, body) });
        await assert.rejects(poll(task, upstream), isFault('garbled'));
      }));
  }

  for (const status of [500, 503, 504]) {
    test(`is asked after again when the vendor answers ${status}`, () =>
      run(async (emulator, upstream) => {
        const task = await film(upstream);
        emulator.script({ kind: 'instead', ...json(status, { code: 'InternalError', message: 'marker' }) });
        await assert.rejects(poll(task, upstream), isFault('server'));
        assert.deepEqual(await poll(task, upstream), { state: 'succeeded', ...(await done(task, upstream)) });
      }));
  }

  async function done(task: JsonObject, upstream: Upstream) {
    const progress = await poll(task, upstream);
    assert.ok(progress?.state === 'succeeded');
    return { outputs: progress.outputs, usage: progress.usage };
  }
});

describe('a refusal is known by its code, whatever its status', () => {
  const FAULTS: readonly (readonly [code: string, fault: Fault])[] = [
    ...[...wire.faults.codes],
    ['AccessDenied.Unpurchased', 'account'],
    ['Workspace.AccessDenied', 'account'],
    ['Throttling.Concurrency', 'rate'],
    ['InternalError.Upload', 'server'],
    ['InvalidParameter.FileDownload', 'client'],
    ['BadRequest.InputDownloadFailed', 'client'],
  ];
  for (const [code, fault] of FAULTS) {
    test(`${code} is ${fault}, and certain`, () =>
      run(async (emulator, upstream) => {
        for (const status of [400, 429, 200]) {
          emulator.script({ kind: 'instead', ...json(status, { code, message: 'marker', request_id: 'r' }) });
          await assert.rejects(film(upstream), isFault(fault, { isUncertain: false }));
        }
      }));
  }

  const WORDS: readonly (readonly [status: number, code: string, message: string, fault: Fault])[] = [
    [429, 'Throttling.AllocationQuota', 'Free allocated quota exceeded.', 'account'],
    [429, 'insufficient_quota', 'You exceeded your current quota.', 'rate'],
    [403, 'never.seen', 'The free tier of the model has been exhausted.', 'account'],
    [400, 'never.seen', 'Your account has an overdue payment.', 'account'],
    [503, 'never.seen', 'free quota', 'server'],
    [400, 'never.seen', 'marker', 'client'],
    [429, 'never.seen', 'marker', 'rate'],
  ];
  for (const [status, code, message, fault] of WORDS) {
    test(`${status} ${code} with "${message}" is ${fault}`, () =>
      run(async (emulator, upstream) => {
        emulator.script({ kind: 'instead', ...json(status, { code, message, request_id: 'r' }) });
        await assert.rejects(film(upstream), isFault(fault, { isUncertain: false }));
      }));
  }

  test('told one level deeper is the same, and an empty code is none', () =>
    run(async (emulator, upstream) => {
      const error = { code: 'Arrearage', message: 'marker' };
      emulator.script({ kind: 'instead', ...json(400, { error, request_id: 'r' }) });
      await assert.rejects(film(upstream), isFault('account'));
      const output = { task_id: 'task-7', task_status: 'PENDING' };
      emulator.script({ kind: 'instead', ...json(200, { code: '', message: '', output }) });
      assert.deepEqual(await film(upstream), { id: 'task-7' });
    }));

  test('what the vendor refuses by itself: a key, a model, a field, a debt, a throttle, words', () =>
    run(async (emulator, upstream) => {
      await assert.rejects(film({ ...upstream, apiKey: 'x' }), isFault('account'));
      await assert.rejects(film({ ...upstream, model: 'wan9-t2v' }), isFault('config'));
      await assert.rejects(film(upstream, { extra: { odd: 1 } }), isFault('client'));
      await assert.rejects(film(upstream, { prompt: emulator.forbidden }), isFault('policy'));
      emulator.isThrottled = true;
      await assert.rejects(film(upstream), isFault('rate'));
      emulator.isInArrears = true;
      await assert.rejects(film(upstream), isFault('account'));
      assert.equal(emulator.tasks.length, 0);
    }));

  for (const fault of ['reset', 'reset in the answer', 'garbage'] as const) {
    test(`a submission whose answer is lost (${fault}) may have been accepted`, () =>
      run(async (emulator, upstream) => {
        emulator.script({ kind: 'fault', fault });
        await assert.rejects(film(upstream), isFault('connection', { isUncertain: true }));
      }));
  }

  test('a submission without an id is garbled, and may have been accepted', () =>
    run(async (emulator, upstream) => {
      emulator.script({ kind: 'instead', ...json(200, { output: {} }) });
      await assert.rejects(film(upstream), isFault('garbled', { isUncertain: true }));
    }));
});

describe('the emulator refuses what the vendor refuses', () => {
  const body = { model: 'wan2.7-t2v', input: { prompt: 'Waves' }, parameters: { duration: 5 } };
  const path = '/api/v1/services/aigc/video-generation/video-synthesis';
  const headers = { 'content-type': 'application/json', 'x-dashscope-async': 'enable' };
  const CASES: readonly (readonly [name: string, status: number, path: string, headers: object, body: object])[] = [
    ['no header of a task', 403, path, { 'content-type': 'application/json' }, body],
    ['the path of another model', 400, '/api/v1/services/aigc/text2image/image-synthesis', headers, body],
    ['no words', 400, path, headers, { ...body, input: {} }],
    ['a number as text', 400, path, headers, { ...body, parameters: { duration: '5' } }],
    ['a tier in lower case', 400, path, headers, { ...body, parameters: { resolution: '720p' } }],
    ['an unknown field', 400, path, headers, { ...body, odd: 1 }],
    ['a field in the wrong half', 400, path, headers, { ...body, input: { prompt: 'Waves', duration: 5 } }],
  ];
  for (const [name, status, at, sent, wrong] of CASES) {
    test(name, () =>
      run(async (emulator, { apiKey }) => {
        const answer = await fetch(emulator.url + at, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, ...sent },
          body: JSON.stringify(wrong),
        });
        assert.equal(answer.status, status, await answer.text());
      }),
    );
  }
});
