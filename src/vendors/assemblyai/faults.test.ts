import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainTranscription } from '../../../test/support/plain-requests.ts';
import { type Fault, UpstreamError } from '../../errors.ts';
import { UPSTREAM_RESPONSE_BYTES_MAX } from '../../limits.ts';
import { AUDIO, accepted, MARKER, poll, transcription, withEmulator } from './emulator/calls.ts';
import type { Script } from './emulator.ts';

const status = (code: number, error = 'no'): Script => ({ kind: 'status', status: code, error });
const raw = (body: string, contentType = 'application/json', code = 200): Script => ({
  kind: 'raw',
  body,
  contentType,
  status: code,
});

const REFUSALS: readonly [name: string, script: Script, fault: Fault][] = [
  ['a bad parameter', status(400, 'Invalid endpoint schema'), 'client'],
  ['a bill', status(400, 'Your current account balance is negative. Please top up'), 'account'],
  ['a bad key', status(401), 'account'],
  ['a wrong address', status(404), 'config'],
  ['a throttle', status(429), 'rate'],
  ['a failure', status(500, 'Server error, developers have been alerted'), 'server'],
  ['a pause', status(503), 'server'],
  ['a delay', status(504), 'server'],
];

describe('every refusal is a fault, and a certain one', () => {
  for (const step of ['upload', 'create'] as const) {
    for (const [name, script, fault] of REFUSALS) {
      test(`${name} at the ${step} is ${fault}`, () =>
        withEmulator(async (emulator, upstream) => {
          emulator.script(step, script);
          await assert.rejects(accepted(upstream), { fault, isUncertain: false });
          assert.equal(emulator.tasks.length, 0);
        }));
    }
  }

  for (const [name, script, fault] of REFUSALS.filter(([, , named]) => named !== 'config')) {
    test(`${name} at a question after a task is ${fault}, and says nothing of the task`, () =>
      withEmulator(async (emulator, upstream) => {
        const task = await accepted(upstream);
        emulator.script('read', script);
        await assert.rejects(poll(task, upstream), { fault });
        assert.deepEqual(await poll(task, upstream), { state: 'running' });
      }));
  }

  test('a field, a model and a key that the vendor does not take', () =>
    withEmulator(async (_emulator, upstream) => {
      await assert.rejects(accepted(upstream, { extra: { odd: 1 } }), { fault: 'client' });
      await assert.rejects(accepted(upstream, { language: 'xx' }), { fault: 'client' });
      await assert.rejects(accepted({ ...upstream, model: 'universal-9' }), { fault: 'client' });
      await assert.rejects(accepted({ ...upstream, apiKey: 'other' }), { fault: 'account' });
    }));

  test('how long to stay away is passed on, and the vendor’s words stay in the detail', () =>
    withEmulator(async (emulator, upstream) => {
      const script: Script = { kind: 'status', status: 429, headers: { 'retry-after': '7' } };
      emulator.script('upload', script);
      emulator.script('create', script);
      const refused = { fault: 'rate', retryAfterMs: 7000, message: new RegExp(MARKER) };
      await assert.rejects(accepted(upstream), refused);
      await assert.rejects(accepted(upstream), refused);
    }));
});

const BROKEN: readonly [name: string, script: Script, fault: Fault][] = [
  ['a reset', { kind: 'fault', fault: 'reset' }, 'connection'],
  ['a reset when it is done', { kind: 'fault', fault: 'reset after accept' }, 'connection'],
  ['no HTTP', { kind: 'fault', fault: 'garbage' }, 'connection'],
  ['a web page', raw('<html>', 'text/html'), 'garbled'],
  ['an empty document', raw('{}'), 'garbled'],
  ['a list', raw('[1]'), 'garbled'],
  ['a number where a text is due', raw('{"upload_url":1,"id":1,"status":1}'), 'garbled'],
  ['a success of another kind', raw('{}', 'application/json', 201), 'garbled'],
];

for (const [name, script, fault] of BROKEN) {
  test(`after ${name} at the upload nothing counts, and at the creation nobody knows`, () =>
    withEmulator(async (emulator, upstream) => {
      emulator.script('upload', script);
      await assert.rejects(accepted(upstream), { fault, isUncertain: false });
      assert.equal(emulator.count('create'), 0);
      emulator.script('create', script);
      await assert.rejects(accepted(upstream), { fault, isUncertain: true });
      assert.equal(emulator.count('create'), 1);
    }));

  test(`${name} at a question after a task is ${fault}, and it may be asked again`, () =>
    withEmulator(
      async (emulator, upstream) => {
        const task = await accepted(upstream);
        emulator.script('read', script);
        await assert.rejects(poll(task, upstream), { fault });
        assert.equal((await poll(task, upstream)).state, 'transcribed');
      },
      { readsUntilDone: 0 },
    ));

  test(`a transcript without its sentences is still one: ${name}`, () =>
    withEmulator(
      async (emulator, upstream) => {
        const task = await accepted(upstream);
        emulator.script('sentences', script);
        const ended = await poll(task, upstream);
        assert.ok(ended.state === 'transcribed');
        assert.equal(ended.transcript.segments, undefined);
        assert.equal(ended.transcript.words?.length, 5);
      },
      { readsUntilDone: 0 },
    ));
}

test('odd entries of a transcript are left out', () =>
  withEmulator(async (emulator, upstream) => {
    const task = await accepted(upstream);
    const words = '[7,{"text":"a","start":-1,"end":2},{"start":0,"end":1},{"text":"b","start":250,"end":1001}]';
    emulator.script('read', raw(`{"status":"completed","text":"a b","audio_duration":"5","words":${words}}`));
    const ended = await poll(task, upstream);
    assert.ok(ended.state === 'transcribed');
    assert.deepEqual(ended.transcript.words, [{ word: 'b', start: 0.25, end: 1.001 }]);
    assert.equal(ended.transcript.seconds, undefined);
  }));

test('a transcript of the most bytes is read, and one of one more is too large', () =>
  withEmulator(async (emulator, upstream) => {
    const task = await accepted(upstream);
    const empty = '{"status":"completed","text":""}';
    const text = 'a'.repeat(UPSTREAM_RESPONSE_BYTES_MAX - empty.length);
    emulator.script('read', raw(empty.replace('""', `"${text}"`)), raw(empty.replace('""', `"${text}a"`)));
    assert.equal((await poll(task, upstream)).state, 'transcribed');
    await assert.rejects(poll(task, upstream), { fault: 'garbled', isTooLarge: true });
  }));

test('an upstream that is silent for too long may have taken the task, but no upload', () =>
  withEmulator(async (emulator, upstream) => {
    const hasty = { ...upstream, timeoutMs: 50 };
    emulator.script('upload', { kind: 'fault', fault: 'silence' });
    await assert.rejects(accepted(hasty), { fault: 'timeout', isUncertain: false });
    emulator.script('create', { kind: 'fault', fault: 'silence' });
    await assert.rejects(accepted(hasty), { fault: 'timeout', isUncertain: true });
  }));

test('a recording that cannot be read is no fault of the upstream', () =>
  withEmulator(async (emulator, upstream) => {
    async function* pieces(): AsyncGenerator<Buffer> {
      yield Buffer.from('RIFF');
      throw new Error('the store is gone');
    }
    const broken = transcription.submit(plainTranscription(), { ...AUDIO, pieces }, upstream);
    await assert.rejects(broken, /the store is gone/);
    assert.equal(emulator.tasks.length, 0);
  }));

test('a call that is given up is nobody’s fault, at every step', () =>
  withEmulator(
    async (emulator, upstream) => {
      const task = await accepted(upstream);
      for (const step of ['upload', 'create', 'read', 'sentences'] as const) {
        const [controller, gate] = [new AbortController(), Promise.withResolvers<void>()];
        const leave = () => {
          controller.abort();
          return gate.promise;
        };
        emulator.script(step, { kind: 'answer', after: leave });
        const left = { ...upstream, signal: controller.signal };
        const isNew = step === 'upload' || step === 'create';
        const work: Promise<unknown> = isNew ? accepted(left) : poll(task, left);
        await assert.rejects(work, (error) => !(error instanceof UpstreamError));
        gate.resolve();
      }
    },
    { readsUntilDone: 0 },
  ));
