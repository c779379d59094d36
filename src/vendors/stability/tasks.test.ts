import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fault } from '../../errors.ts';
import { isFault } from '../emulator/calls.ts';
import { json } from '../emulator/json.ts';
import { inMemoryMedia } from '../kit/in-memory-media.ts';
import { draw, image, KEY, MADE, music, play, taskOf, withEmulator } from './emulator/calls.ts';
import { refusal } from './emulator.ts';

const png = inMemoryMedia(Buffer.from('a png'), 'image/png');
const CREATIVE = 'creative';
const ID = '1'.padStart(64, 'a');

describe('a task', () => {
  test('of a picture waits, ends, and is read behind the key', () =>
    withEmulator(async (emulator, upstream) => {
      const task = taskOf(await draw({ ...upstream, model: CREATIVE }, { referenceImages: [png], style: 'anime' }));
      assert.deepEqual(task, { id: ID });
      assert.deepEqual(await image.poll?.(task, upstream), { state: 'running', pollAfterMs: 10_000 });
      const path = `/v2beta/results/${ID}`;
      assert.deepEqual(await image.poll?.(task, upstream), { state: 'succeeded', outputs: [{ path }] });
      const pieces = (await image.open?.(path, upstream)) ?? assert.fail();
      assert.deepEqual(Buffer.concat(await Array.fromAsync(pieces)), MADE.image);
      const asked = emulator.sent('GET').map(({ path: at, headers }) => [at, headers.accept, headers.authorization]);
      assert.deepEqual(
        asked,
        [1, 2, 3].map(() => [path, 'image/*', `Bearer ${KEY}`]),
      );
    }));

  test('that puts a subject elsewhere takes the prompt for the background', () =>
    withEmulator(async (emulator, upstream) => {
      const model = 'replace-background-and-relight';
      taskOf(await draw({ ...upstream, model }, { referenceImages: [png], extra: { light_source_direction: 'left' } }));
      const subject_image = 'subject_image.png image/png';
      const wire = { background_prompt: 'A toll gate', subject_image, light_source_direction: 'left' };
      assert.deepEqual(emulator.submissions, [wire]);
    }));

  test('of a sound has its own results', () =>
    withEmulator(async (emulator, upstream) => {
      emulator.readsUntilDone = 0;
      const task = taskOf(await play({ ...upstream, model: 'stable-audio-3' }));
      const path = `/v2beta/audio/results/${ID}`;
      assert.deepEqual(await music.poll?.(task, upstream), { state: 'succeeded', outputs: [{ path }] });
      const pieces = (await music.open?.(path, upstream)) ?? assert.fail();
      assert.deepEqual(Buffer.concat(await Array.fromAsync(pieces)), MADE.audio);
    }));

  test('that moderation blurred has failed', () =>
    withEmulator(async (emulator, upstream) => {
      [emulator.filtered, emulator.readsUntilDone] = [1, 0];
      const task = taskOf(await draw({ ...upstream, model: CREATIVE }, { referenceImages: [png] }));
      const outcome = { state: 'failed', code: 'content_rejected', detail: 'CONTENT_FILTERED' };
      assert.deepEqual(await image.poll?.(task, upstream), outcome);
    }));

  test('that tells the same in a document has failed as well', () =>
    withEmulator(async (emulator, upstream) => {
      const task = taskOf(await draw({ ...upstream, model: CREATIVE }, { referenceImages: [png] }));
      emulator.script({ kind: 'instead', ...json(200, { finish_reason: 'CONTENT_FILTERED' }) });
      const outcome = await image.poll?.(task, upstream);
      assert.ok(outcome?.state === 'failed' && outcome.code === 'content_rejected', JSON.stringify(outcome));
    }));

  test('that is not known any more is lost', () =>
    withEmulator(async (_emulator, upstream) => {
      const outcome = { state: 'failed', code: 'upstream_failed', detail: 'the task is lost: 404' };
      assert.deepEqual(await image.poll?.({ id: 'of last week' }, upstream), outcome);
    }));

  const ENDINGS: readonly [status: number, name: string, code: string][] = [
    [403, 'content_moderation', 'content_rejected'],
    [400, 'bad_request', 'upstream_rejected'],
  ];
  for (const [status, name, code] of ENDINGS) {
    test(`that is answered with ${status} ${name} has failed as ${code}`, () =>
      withEmulator(async (emulator, upstream) => {
        const task = taskOf(await draw({ ...upstream, model: CREATIVE }, { referenceImages: [png] }));
        emulator.script({ kind: 'instead', ...refusal(status, name, 'words') });
        const outcome = await image.poll?.(task, upstream);
        assert.ok(outcome?.state === 'failed' && outcome.code === code, JSON.stringify(outcome));
      }));
  }

  const PASSING: readonly [status: number, name: string, fault: Fault][] = [
    [403, 'forbidden', 'account'],
    [429, 'rate_limit_exceeded', 'rate'],
    [500, 'internal_error', 'server'],
  ];
  for (const [status, name, fault] of PASSING) {
    test(`is asked after again behind ${status} ${name}`, () =>
      withEmulator(async (emulator, upstream) => {
        const task = taskOf(await draw({ ...upstream, model: CREATIVE }, { referenceImages: [png] }));
        emulator.script({ kind: 'instead', ...refusal(status, name, 'words') });
        await assert.rejects(async () => image.poll?.(task, upstream), isFault(fault));
      }));
  }

  test('without a result, or with another than was asked for, is garbled', () =>
    withEmulator(async (emulator, upstream) => {
      const task = taskOf(await draw({ ...upstream, model: CREATIVE }, { referenceImages: [png] }));
      const empty = { status: 200, headers: { 'content-type': 'image/png' }, body: '' };
      for (const answer of [empty, json(200, { id: ID, status: 'in-progress' })]) {
        emulator.script({ kind: 'instead', ...answer });
        await assert.rejects(async () => image.poll?.(task, upstream), isFault('garbled'));
      }
    }));
});

describe('a refusal is known by its body', () => {
  const REFUSALS: readonly [status: number, name: string, words: string, fault: Fault][] = [
    [400, 'bad_request', 'prompt: is required', 'client'],
    [422, 'invalid_image', 'image: cannot be read', 'client'],
    [403, 'content_moderation', 'Your request was flagged', 'policy'],
    [403, 'forbidden', 'no access', 'account'],
    [401, 'unauthorized', 'authorization: is invalid', 'account'],
    [400, 'bad_request', 'authorization: is required', 'account'],
    [402, 'payment_required', 'You lack sufficient credits to make this request.', 'account'],
    [429, 'too_many', 'You lack sufficient credits to make this request.', 'account'],
    [400, 'bad_request', 'Your organization does not have enough balance to request this action.', 'account'],
    // The prompt itself may speak of anything.
    [400, 'bad_request', 'prompt: "You lack sufficient credits" is too long', 'client'],
    [413, 'payload_too_large', 'too large', 'unfit'],
    [404, 'not_found', 'not found', 'config'],
    [429, 'rate_limit_exceeded', 'slow down', 'rate'],
    [500, 'internal_error', 'You lack sufficient credits', 'server'],
  ];
  for (const [status, name, words, fault] of REFUSALS) {
    test(`${status} ${name}: ${words} is ${fault}, and certain`, () =>
      withEmulator(async (emulator, upstream) => {
        emulator.script({ kind: 'instead', ...refusal(status, name, words) });
        await assert.rejects(draw(upstream), isFault(fault, { isUncertain: false }));
      }));
  }

  test('a bad key that is told without a list', () =>
    withEmulator(async (emulator, upstream) => {
      const body = JSON.stringify({ message: 'authorization: is not a key' });
      emulator.script({ kind: 'instead', status: 400, body });
      await assert.rejects(draw(upstream), isFault('account'));
    }));

  test('an account without credits, a refused prompt, and a limit with its lockout', () =>
    withEmulator(async (emulator, upstream) => {
      emulator.forbidden = /gate/;
      await assert.rejects(draw(upstream), isFault('policy'));
      emulator.credits = 0;
      await assert.rejects(draw(upstream), isFault('account'));
      emulator.requestsLeft = 0;
      await assert.rejects(draw(upstream), isFault('rate', { retryAfterMs: 60_000 }));
    }));
});

describe('an answer of success', () => {
  test('with a blurred picture or a silenced sound is refused content', () =>
    withEmulator(async (emulator, upstream) => {
      emulator.filtered = 2;
      await assert.rejects(draw(upstream), isFault('policy', { isUncertain: false }));
      await assert.rejects(play({ ...upstream, model: 'stable-audio-2.5' }), isFault('policy', { isUncertain: false }));
    }));

  const data = Buffer.from('x').toString('base64');
  for (const body of [{}, { image: '' }, { image: null }, { audio: data }, { image: data, finish_reason: 'ERROR' }]) {
    test(`${JSON.stringify(body)} is garbled`, () =>
      withEmulator(async (emulator, upstream) => {
        emulator.script({ kind: 'instead', ...json(200, body) });
        await assert.rejects(draw(upstream), isFault('garbled', { isUncertain: true }));
      }));
  }

  test('of a task without its id is garbled', () =>
    withEmulator(async (emulator, upstream) => {
      emulator.script({ kind: 'instead', ...json(200, { status: 'in-progress' }) });
      const sent = draw({ ...upstream, model: CREATIVE }, { referenceImages: [png] });
      await assert.rejects(sent, isFault('garbled', { isUncertain: true }));
    }));
});
