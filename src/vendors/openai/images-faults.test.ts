import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Fault, UpstreamError } from '../../errors.ts';
import { FAULTS, isFault, KEY } from './emulator/calls.ts';
import { pictureOf } from './emulator/images.ts';
import { mediaOf, pictures, withImages } from './emulator/images-calls.ts';
import type { ERRORS, Script } from './emulator.ts';

const PNG = mediaOf(await pictureOf('64x48', 'png'), 'image/png');

describe('every refusal of the vendor is a fault, and a certain one', () => {
  for (const error of Object.keys(FAULTS) as (keyof typeof ERRORS)[]) {
    test(`${error} is ${FAULTS[error]}`, () =>
      withImages(async (emulator, upstream) => {
        for (const referenceImages of [[], [PNG]]) {
          emulator.script({ kind: 'error', error });
          const isUncertain = false;
          await assert.rejects(pictures({ referenceImages }, upstream), { fault: FAULTS[error], isUncertain });
        }
        assert.equal(emulator.submissions.length, 0);
      }));
  }

  test('a field, a model and a key that the vendor does not take', () =>
    withImages(
      async (_emulator, upstream) => {
        await assert.rejects(pictures({ extra: { odd: 1 } }, upstream), isFault('client'));
        await assert.rejects(pictures({}, { ...upstream, model: 'gpt-image-3' }), isFault('config'));
        await assert.rejects(pictures({}, { ...upstream, apiKey: 'sk-other' }), isFault('account'));
      },
      { apiKey: KEY, models: ['gpt-image-2'] },
    ));

  test('an error inside a success', () =>
    withImages(async (emulator, upstream) => {
      emulator.script({ kind: 'raw', body: '{"error":{"code":"request_timeout","message":"x"}}' });
      await assert.rejects(pictures({}, upstream), { fault: 'timeout', isUncertain: false });
    }));
});

const UNCERTAIN: readonly { name: string; script: Script; fault: Fault; isDone?: boolean }[] = [
  {
    name: 'is reset before its body is read',
    script: { kind: 'fault', fault: 'reset before the body' },
    fault: 'connection',
  },
  { name: 'is reset before its answer', script: { kind: 'fault', fault: 'reset' }, fault: 'connection' },
  {
    name: 'is reset when it is done',
    script: { kind: 'fault', fault: 'reset when done' },
    fault: 'connection',
    isDone: true,
  },
  { name: 'is reset in its answer', script: { kind: 'fault', fault: 'reset in the body' }, fault: 'connection' },
  { name: 'is answered in no HTTP', script: { kind: 'fault', fault: 'garbage' }, fault: 'connection' },
  { name: 'is answered with a web page', script: { kind: 'fault', fault: 'wrong content type' }, fault: 'garbled' },
  { name: 'is answered without pictures', script: { kind: 'pictures', count: 0 }, fault: 'garbled', isDone: true },
  { name: 'is answered with a list', script: { kind: 'raw', body: '[]' }, fault: 'garbled' },
  { name: 'is answered with words as pictures', script: { kind: 'raw', body: '{"data":["no"]}' }, fault: 'garbled' },
  { name: 'is accepted for later', script: { kind: 'raw', status: 202, body: '{"id":"1"}' }, fault: 'garbled' },
];

for (const { name, script, fault, isDone = false } of UNCERTAIN) {
  test(`a request that ${name} fails as ${fault}, and may have been taken`, () =>
    withImages(async (emulator, upstream) => {
      emulator.script(script, script);
      await assert.rejects(pictures({}, upstream), { fault, isUncertain: true });
      await assert.rejects(pictures({ referenceImages: [PNG] }, upstream), { fault, isUncertain: true });
      assert.equal(emulator.submissions.length, isDone ? 2 : 0);
    }));
}

test('an upstream that is silent for too long may have taken the request', () =>
  withImages(async (emulator, upstream) => {
    emulator.script({ kind: 'fault', fault: 'silence' });
    const hasty = { ...upstream, timeoutMs: 50 };
    await assert.rejects(pictures({}, hasty), { fault: 'timeout', isUncertain: true });
  }));

test('a picture that was withheld is a matter of policy', () =>
  withImages(async (emulator, upstream) => {
    emulator.script({ kind: 'pictures', beside: { respect_moderation: false } });
    await assert.rejects(pictures({}, upstream), { fault: 'policy', isUncertain: false });
  }));

test('an answer that takes its time is waited for, until the call is given up', () =>
  withImages(async (emulator, upstream) => {
    const [gate, controller] = [Promise.withResolvers<void>(), new AbortController()];
    emulator.script({ kind: 'pictures', after: gate.promise }, { kind: 'pictures', after: gate.promise });
    const [kept, left] = [pictures({}, upstream), pictures({}, { ...upstream, signal: controller.signal })];
    const refused = assert.rejects(left, (error) => !(error instanceof UpstreamError));
    controller.abort();
    await refused;
    gate.resolve();
    assert.equal((await kept).length, 1);
  }));
