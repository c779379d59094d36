import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fault } from '../../errors.ts';
import { json } from '../emulator/json.ts';
import { isFault, poll, submit, withEmulator } from './emulator/calls.ts';

test('a task waits, ends with its picture and tells what it cost', () =>
  withEmulator(async ({ emulator, upstream }) => {
    const task = await submit(upstream);
    assert.deepEqual(task, { id: 'task-1', statusUrl: `${emulator.url}/v1/get_result?id=task-1`, cost: 4 });
    assert.deepEqual(await poll(task, upstream), { state: 'running', percent: 40 });
    const outputs = [{ url: `${emulator.url}/samples/task-1?signature=s` }];
    assert.deepEqual(await poll(task, upstream), { state: 'succeeded', outputs, usage: { credits: 4 } });
  }));

test('a cost that is settled at the end counts, and a task without progress is running', () =>
  withEmulator(async ({ emulator, upstream }) => {
    const task = await submit(upstream);
    const ready = { id: 'task-1', status: 'Ready', result: { sample: 'https://f.example/a' }, cost: 5.5 };
    emulator.script(
      { kind: 'instead', ...json(200, { id: 'task-1', status: 'Pending', result: null, progress: null }) },
      { kind: 'instead', ...json(200, ready) },
    );
    assert.deepEqual(await poll(task, upstream), { state: 'running' });
    const outputs = [{ url: 'https://f.example/a' }];
    assert.deepEqual(await poll(task, upstream), { state: 'succeeded', outputs, usage: { credits: 5.5 } });
  }));

describe('what became of a task', () => {
  for (const [ending, code] of [
    ['Request Moderated', 'content_rejected'],
    ['Content Moderated', 'content_rejected'],
    ['Error', 'upstream_failed'],
    ['Failed', 'upstream_failed'],
  ] as const) {
    test(`${ending} is ${code}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        emulator.readsUntilDone = 0;
        emulator.endings.push(ending);
        const detail = JSON.stringify({ status: ending, details: { why: 'marker' } });
        assert.deepEqual(await poll(await submit(upstream), upstream), { state: 'failed', code, detail });
      }));
  }

  test('one that is not known is asked after again, with either status', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.readsUntilDone = 0;
      emulator.endings.push('Task not found');
      const task = await submit(upstream);
      await assert.rejects(poll(task, upstream), isFault('garbled'));
      const statusUrl = `${emulator.url}/v1/get_result?id=another`;
      await assert.rejects(poll({ ...task, statusUrl }, upstream), isFault('garbled'));
    }));

  test('an address that is gone has lost its task', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const statusUrl = `${emulator.url}/v0/gone`;
      const detail = 'the task is lost: 404';
      assert.deepEqual(await poll({ id: 't', statusUrl }, upstream), {
        state: 'failed',
        code: 'upstream_failed',
        detail,
      });
    }));

  const GARBLED: readonly object[] = [
    { id: 't', status: 'Ready', result: null },
    { id: 't', status: 'Ready', result: { sample: '' } },
    { id: 't', status: 'Drawing' },
    { id: 't' },
  ];
  for (const body of GARBLED) {
    test(`${JSON.stringify(body)} is garbled`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        const task = await submit(upstream);
        emulator.script({ kind: 'instead', ...json(200, body) });
        await assert.rejects(poll(task, upstream), isFault('garbled'));
      }));
  }
});

describe('a refusal is known by its body', () => {
  const REFUSALS: readonly [status: number, body: object, fault: Fault][] = [
    [402, { detail: 'Insufficient credits' }, 'account'],
    [400, { detail: 'Insufficient credits' }, 'account'],
    [429, { error: 'rate_limited', message: 'You are out of credits' }, 'account'],
    [422, { error: 'insufficient_credits' }, 'account'],
    [429, { detail: 'Too many active tasks' }, 'rate'],
    [422, { detail: [{ loc: ['body', 'prompt'], msg: 'Request was moderated', type: 'value_error' }] }, 'policy'],
    [400, { id: 't', status: 'Request Moderated', details: {} }, 'policy'],
    // The prompt itself may speak of anything.
    [422, { detail: [{ loc: ['body', 'seed'], msg: 'Input should be a number', input: 'moderated' }] }, 'client'],
    [503, { detail: 'The moderation service is not available' }, 'server'],
    [500, { detail: 'Insufficient credits' }, 'server'],
    [403, { detail: 'Not authenticated' }, 'account'],
    [404, { detail: 'Not Found' }, 'config'],
  ];
  for (const [status, body, fault] of REFUSALS) {
    test(`${status} with ${JSON.stringify(body)} is ${fault}, and certain`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        emulator.script({ kind: 'instead', ...json(status, body) });
        await assert.rejects(submit(upstream), isFault(fault, { isUncertain: false }));
      }));
  }

  test('an account without credits, and one with as many tasks as it may have', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.activeMax = 1;
      await submit(upstream);
      await assert.rejects(submit(upstream), isFault('rate', { retryAfterMs: 7000 }));
      emulator.credits = 0;
      await assert.rejects(submit(upstream), isFault('account'));
    }));

  test('a header that says when to come again counts before the body', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const { body } = json(429, { retry_after: 9 });
      emulator.script({ kind: 'instead', status: 429, headers: { 'retry-after': '3' }, body });
      await assert.rejects(submit(upstream), isFault('rate', { retryAfterMs: 3000 }));
    }));

  for (const fault of ['reset', 'reset in the answer'] as const) {
    test(`a ${fault} after acceptance leaves it uncertain`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        emulator.script({ kind: 'fault', fault });
        await assert.rejects(submit(upstream), isFault('connection', { isUncertain: true }));
      }));
  }

  test('a task without an id is garbled, and may have been accepted', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.script({ kind: 'instead', ...json(200, { polling_url: `${emulator.url}/v1/get_result?id=1` }) });
      await assert.rejects(submit(upstream), isFault('garbled', { isUncertain: true }));
    }));
});

describe('the key goes to the vendor’s own hosts only', () => {
  const GLOBAL = 'https://api.bfl.ai';
  const HERE = `${GLOBAL}/v1/get_result?id=task-1`;

  test('one region is asked after what it was given', () =>
    withEmulator(async ({ emulator, upstream, origins }) => {
      emulator.pollingUrl = 'https://api.us1.bfl.ai/v1/get_result?id=task-1';
      const own = { ...upstream, address: GLOBAL };
      const task = await submit(own);
      assert.equal(task.statusUrl, emulator.pollingUrl);
      await poll(task, own);
      assert.deepEqual(origins, [GLOBAL, 'https://api.us1.bfl.ai']);
    }));

  test('the id is added to an address that lacks it', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.pollingUrl = 'https://api.eu.bfl.ai/v1/get_result';
      const { statusUrl } = await submit({ ...upstream, address: GLOBAL });
      assert.equal(statusUrl, 'https://api.eu.bfl.ai/v1/get_result?id=task-1');
    }));

  const ELSEWHERE = [
    'https://evil.example/v1/get_result?id=task-1',
    'https://api.us1.bfl.ai.evil.example/v1/get_result?id=task-1',
    'https://api.us1.bfl.ai@evil.example/v1/get_result?id=task-1',
    'https://evilbfl.ai/v1/get_result?id=task-1',
    'https://blog.bfl.ai/v1/get_result?id=task-1',
    'http://api.bfl.ai/v1/get_result?id=task-1',
    'https://api.bfl.ai:8443/v1/get_result?id=task-1',
    '/v1/get_result?id=task-1',
    '',
    null,
  ];
  for (const address of ELSEWHERE) {
    test(`for ${JSON.stringify(address)} the task is asked after where it was submitted`, () =>
      withEmulator(async ({ emulator, upstream, origins }) => {
        emulator.pollingUrl = address;
        const own = { ...upstream, address: GLOBAL };
        const task = await submit(own);
        assert.equal(task.statusUrl, HERE);
        await poll(task, own);
        assert.deepEqual(origins, [GLOBAL, GLOBAL]);
        if (address === null) return;
        await assert.rejects(poll({ ...task, statusUrl: address }, own), isFault('garbled'));
        assert.equal(origins.length, 2);
      }));
  }

  test('another server has no other hosts, unless the configuration says that it is the vendor', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.pollingUrl = HERE;
      assert.equal((await submit(upstream)).statusUrl, `${emulator.url}/v1/get_result?id=task-1`);
      assert.equal((await submit({ ...upstream, dialect: 'bfl' })).statusUrl, HERE);
    }));
});
