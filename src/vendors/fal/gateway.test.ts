import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fault } from '../../errors.ts';
import {
  image,
  imageRequest,
  isFault,
  KEY,
  MARKER,
  music,
  ORDER,
  soundRequest,
  submitted,
  video,
  videoRequest,
  withEmulator,
} from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import type { Script } from './emulator.ts';

test('a task waits, runs and ends with its pictures in their order, each asked for once', () =>
  withEmulator({ readsUntilDone: 2 }, async (emulator, upstream) => {
    const answer = await image.submit(imageRequest({ n: 3 }), { ...ORDER, count: 3 }, upstream);
    const [task] = emulator.tasks;
    const requestUrl = `${emulator.url}/fal-ai/flux/requests/${task?.id}`;
    assert.deepEqual(answer, {
      state: 'accepted',
      task: { statusUrl: `${requestUrl}/status`, responseUrl: requestUrl },
    });
    assert.ok(answer.state === 'accepted');
    const progress = [];
    for (let round = 0; round < 3; round++) progress.push(await image.poll?.(answer.task, upstream));
    const outputs = [0, 1, 2].map((at) => ({ url: `${emulator.files.url}/files/${task?.id}/${MARKER}-${at}.png` }));
    assert.deepEqual(progress, [{ state: 'running' }, { state: 'running' }, { state: 'succeeded', outputs }]);
    assert.deepEqual(
      emulator.requests.map(({ step }) => step),
      ['submit', 'status', 'status', 'status', 'result'],
    );
    for (const { headers } of emulator.requests) assert.equal(headers.authorization, `Key ${KEY}`);
    assert.deepEqual(emulator.files.requests, []);
  }));

test('a clip, a piece of music and one of another place are found', () =>
  withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
    const ask = await submitted(video, videoRequest(), { ...upstream, model: 'fal-ai/veo3.1' });
    const play = await submitted(music, soundRequest(), { ...upstream, model: 'fal-ai/elevenlabs/music' });
    const hum = await submitted(music, soundRequest(), { ...upstream, model: 'fal-ai/stable-audio' });
    const urls = emulator.tasks.map(
      ({ id }, at) => `${emulator.files.url}/files/${id}/${MARKER}.${at ? 'mp3' : 'mp4'}`,
    );
    const [clip, piece, other] = urls.map((url) => ({ state: 'succeeded', outputs: [{ url }] }));
    assert.deepEqual([await ask(), await play(), await hum()], [clip, piece, other]);
  }));

test('a task is running until the vendor says otherwise, however often it is asked after', () =>
  withEmulator({}, async (emulator, upstream) => {
    const ask = await submitted(image, imageRequest(), upstream);
    const [task] = emulator.tasks;
    for (const state of ['IN_QUEUE', 'IN_PROGRESS']) {
      assert.equal(task?.state, state);
      for (let round = 0; round < 3; round++) assert.deepEqual(await ask(), { state: 'running' });
      task?.advance();
    }
    assert.equal((await ask()).state, 'succeeded');
  }));

test('a task that is over can be asked after again, and says the same', () =>
  withEmulator({ readsUntilDone: 0 }, async (_emulator, upstream) => {
    const ask = await submitted(image, imageRequest(), upstream);
    assert.deepEqual(await ask(), await ask());
  }));

test('nobody can tell whether a submission without an answer arrived', () => {
  for (const work of [image, video, music]) assert.equal('adopt' in work, false);
});

const answered = (error: ErrorName): Script => ({ kind: 'error', error });
const raw = (body: string, status = 200, contentType = 'application/json'): Script => ({
  kind: 'raw',
  body,
  status,
  contentType,
});
const without = (...keys: string[]): Script => ({
  kind: 'changed',
  change: (document) => Object.fromEntries(Object.entries(document).filter(([key]) => !keys.includes(key))),
});

describe('a submission that fails is a fault, and is never sent again', () => {
  const ANSWERS: Readonly<Record<ErrorName, Fault>> = {
    badRequest: 'client',
    invalid: 'client',
    policy: 'policy',
    noMedia: 'server',
    downstream: 'server',
    badKey: 'account',
    locked: 'account',
    lost: 'config',
    throttled: 'rate',
    cancelled: 'server',
    disconnected: 'server',
    runnerBroken: 'server',
    broken: 'server',
    modelBroken: 'server',
    incomplete: 'server',
    unscheduled: 'server',
    runnerGone: 'server',
    tooSlow: 'server',
    startedTooSlowly: 'server',
    madeTooSlowly: 'server',
    notBegun: 'server',
  };
  const FAILURES: readonly { name: string; script: Script; fault: Fault; tasks: number }[] = [
    ...Object.entries(ANSWERS).map(([error, fault]) => ({
      name: error,
      script: answered(error as ErrorName),
      fault,
      tasks: 0,
    })),
    {
      name: 'a reset before it is read',
      script: broken('reset before the body is read'),
      fault: 'connection',
      tasks: 0,
    },
    { name: 'a reset', script: broken('reset'), fault: 'connection', tasks: 0 },
    { name: 'a reset after acceptance', script: broken('reset after acceptance'), fault: 'connection', tasks: 1 },
    { name: 'a reset in the answer', script: broken('reset in the answer'), fault: 'connection', tasks: 1 },
    { name: 'no HTTP', script: broken('garbage'), fault: 'connection', tasks: 1 },
    { name: 'a web page', script: raw('<html></html>', 200, 'text/html'), fault: 'garbled', tasks: 1 },
    { name: 'a list', script: raw('[]'), fault: 'garbled', tasks: 1 },
    { name: 'no address of a status', script: without('status_url'), fault: 'garbled', tasks: 1 },
    { name: 'no address of a result', script: without('response_url'), fault: 'garbled', tasks: 1 },
    {
      name: 'an address that is no text',
      script: { kind: 'changed', change: (document) => ({ ...document, status_url: 7 }) },
      fault: 'garbled',
      tasks: 1,
    },
    { name: 'a redirection', script: raw('', 302), fault: 'garbled', tasks: 0 },
  ];
  for (const { name, script, fault, tasks } of FAILURES) {
    test(`${name} is ${fault}`, () =>
      withEmulator({}, async (emulator, upstream) => {
        emulator.script('submit', script);
        const isUncertain = script.kind === 'fault' || tasks > 0;
        await assert.rejects(image.submit(imageRequest(), ORDER, upstream), { fault, isUncertain });
        assert.deepEqual([emulator.requests.length, emulator.tasks.length], [1, tasks]);
      }));
  }

  test('silence is timeout', () =>
    withEmulator({}, async (emulator, upstream) => {
      emulator.script('submit', broken('silence'));
      const hasty = { ...upstream, timeoutMs: 50 };
      await assert.rejects(image.submit(imageRequest(), ORDER, hasty), isFault('timeout'));
      assert.equal(emulator.tasks.length, 1);
    }));

  test('a throttle tells how long it asks to be left alone', () =>
    withEmulator({}, async (emulator, upstream) => {
      emulator.script('submit', { kind: 'error', error: 'throttled', headers: { 'retry-after': '7' } });
      await assert.rejects(image.submit(imageRequest(), ORDER, upstream), { fault: 'rate', retryAfterMs: 7000 });
    }));

  test('what the vendor refuses is not a task', () =>
    withEmulator({}, async (emulator, upstream) => {
      const strange = imageRequest({ extra: { odd: 1 } });
      await assert.rejects(image.submit(strange, ORDER, upstream), isFault('client'));
      await assert.rejects(image.submit(imageRequest(), ORDER, { ...upstream, apiKey: 'x' }), isFault('account'));
      await assert.rejects(image.submit(imageRequest(), ORDER, { ...upstream, model: 'a/b' }), isFault('config'));
      assert.equal(emulator.tasks.length, 0);
    }));
});

function broken(fault: Extract<Script, { kind: 'fault' }>['fault']): Script {
  return { kind: 'fault', fault };
}

test('a call that is given up stays an abort, whichever step it was', () =>
  withEmulator({}, async (emulator, upstream) => {
    const leaving = new AbortController();
    const ask = await submitted(image, imageRequest(), { ...upstream, signal: leaving.signal });
    const waiting = Promise.withResolvers<void>();
    emulator.script('status', { kind: 'slow', until: waiting.promise });
    const asked = ask();
    leaving.abort();
    await assert.rejects(asked, { name: 'AbortError' });
    waiting.resolve();
  }));

test('an answer that is slow is waited for', () =>
  withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
    const gate = Promise.withResolvers<void>();
    emulator.script('submit', { kind: 'slow', until: gate.promise });
    const submission = submitted(image, imageRequest(), upstream);
    gate.resolve();
    const ask = await submission;
    assert.equal((await ask()).state, 'succeeded');
  }));
