import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fault } from '../../errors.ts';
import type { Failed } from '../vendor.ts';
import { image, imageRequest, isFault, MARKER, submitted, withEmulator } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import type { Script } from './emulator.ts';

type Code = Failed['code'];

const raw = (body: string, status = 200, contentType = 'application/json'): Script => ({
  kind: 'raw',
  body,
  status,
  contentType,
});
const answered = (error: ErrorName): Script => ({ kind: 'error', error });

/** What a caller may be told of a failure. */
function codeOf(progress: {
  readonly state: string;
  readonly code?: Code;
  readonly detail?: string;
}): Code | undefined {
  assert.equal(progress.state, 'failed');
  return progress.code;
}

describe('a run that failed', () => {
  const CODES: Readonly<Partial<Record<ErrorName, Code>>> = {
    badRequest: 'upstream_rejected',
    invalid: 'upstream_rejected',
    policy: 'content_rejected',
    noMedia: 'upstream_failed',
    downstream: 'upstream_failed',
    lost: 'upstream_failed',
    cancelled: 'upstream_failed',
    disconnected: 'upstream_failed',
    runnerBroken: 'upstream_failed',
    broken: 'upstream_failed',
    modelBroken: 'upstream_failed',
    incomplete: 'upstream_failed',
    unscheduled: 'upstream_failed',
    runnerGone: 'upstream_failed',
    tooSlow: 'upstream_failed',
    startedTooSlowly: 'upstream_failed',
    madeTooSlowly: 'upstream_failed',
    notBegun: 'upstream_failed',
  };
  for (const [error, code] of Object.entries(CODES) as [ErrorName, Code][]) {
    for (const isInStatus of [false, true]) {
      test(`with ${error} reads as completed${isInStatus ? ' with an error' : ''} and is ${code}`, () =>
        withEmulator({ readsUntilDone: 1 }, async (emulator, upstream) => {
          emulator.outcome({ kind: 'failure', error, isInStatus });
          const ask = await submitted(image, imageRequest(), upstream);
          assert.deepEqual(await ask(), { state: 'running' });
          assert.equal(codeOf(await ask()), code);
          assert.equal(emulator.tasks.length, 1);
        }));
    }
  }

  test('with an error in its status alone has failed, whatever its result says', () =>
    withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
      const ask = await submitted(image, imageRequest(), upstream);
      emulator.script('status', {
        kind: 'changed',
        change: (status) => ({ ...status, error: 'odd', error_type: 'new' }),
      });
      assert.equal(codeOf(await ask()), 'upstream_failed');
    }));

  test('tells what and where for the log, in the vendor’s words and without what was sent', () =>
    withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
      emulator.outcome({ kind: 'failure', error: 'invalid' });
      const ask = await submitted(image, imageRequest(), upstream);
      const detail = [{ loc: ['body', 'seed'], type: 'int_type', msg: `Not whole ${MARKER}`, input: 'A lighthouse' }];
      emulator.script('result', { kind: 'changed', change: () => ({ detail }) });
      assert.deepEqual(await ask(), {
        state: 'failed',
        code: 'upstream_rejected',
        detail: `status 422: [{"loc":["body","seed"],"type":"int_type","msg":"Not whole ${MARKER}"}]`,
      });
    }));

  test('tells no more than a log takes', () =>
    withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
      emulator.outcome({ kind: 'failure', error: 'broken' });
      const ask = await submitted(image, imageRequest(), upstream);
      emulator.script('result', { kind: 'changed', change: () => ({ detail: 'x'.repeat(5000) }) });
      const progress = await ask();
      assert.ok(progress.state === 'failed');
      assert.equal(progress.detail.length, 2000);
    }));
});

describe('a question after the status of a task', () => {
  const FINAL: Readonly<Partial<Record<ErrorName, Code>>> = {
    badRequest: 'upstream_rejected',
    invalid: 'upstream_rejected',
    policy: 'content_rejected',
    lost: 'upstream_failed',
    cancelled: 'upstream_failed',
    notBegun: 'upstream_failed',
  };
  for (const [error, code] of Object.entries(FINAL) as [ErrorName, Code][]) {
    test(`that is answered with ${error} ends the task as ${code}`, () =>
      withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
        const ask = await submitted(image, imageRequest(), upstream);
        emulator.script('status', answered(error));
        assert.equal(codeOf(await ask()), code);
      }));
  }

  const AGAIN: readonly { name: string; script: Script; fault: Fault }[] = [
    { name: 'a throttle', script: answered('throttled'), fault: 'rate' },
    { name: 'a key that is bad', script: answered('badKey'), fault: 'account' },
    { name: 'an account that is locked', script: answered('locked'), fault: 'account' },
    { name: 'a broken server', script: answered('broken'), fault: 'server' },
    { name: 'a runner that is gone', script: answered('runnerGone'), fault: 'server' },
    { name: 'a timeout that is not ours', script: answered('tooSlow'), fault: 'server' },
    { name: 'a gateway’s page', script: raw('<html></html>', 502, 'text/html'), fault: 'server' },
    { name: 'a redirection', script: raw('', 302), fault: 'garbled' },
    { name: 'a reset', script: { kind: 'fault', fault: 'reset' }, fault: 'connection' },
    { name: 'a reset in the answer', script: { kind: 'fault', fault: 'reset in the answer' }, fault: 'connection' },
    { name: 'no HTTP', script: { kind: 'fault', fault: 'garbage' }, fault: 'connection' },
    { name: 'no JSON', script: raw('{"status":'), fault: 'garbled' },
    { name: 'a list', script: raw('[]'), fault: 'garbled' },
    { name: 'a status that is no text', script: raw('{"status":1}'), fault: 'garbled' },
    { name: 'a status that nobody knows', script: raw('{"status":"DREAMING"}'), fault: 'garbled' },
  ];
  for (const { name, script, fault } of AGAIN) {
    test(`that gets ${name} is ${fault}, and can be asked again`, () =>
      withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
        const ask = await submitted(image, imageRequest(), upstream);
        emulator.script('status', script);
        await assert.rejects(ask(), isFault(fault));
        assert.equal((await ask()).state, 'succeeded');
        assert.equal(emulator.tasks.length, 1);
      }));
  }

  test('that gets silence is timeout, and can be asked again', () =>
    withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
      const ask = await submitted(image, imageRequest(), { ...upstream, timeoutMs: 50 });
      emulator.script('status', { kind: 'fault', fault: 'silence' });
      await assert.rejects(ask(), isFault('timeout'));
      assert.equal((await ask()).state, 'succeeded');
    }));
});

describe('a question after the result of a task', () => {
  const AGAIN: readonly { name: string; script: Script; fault: Fault }[] = [
    { name: 'a throttle', script: answered('throttled'), fault: 'rate' },
    { name: 'a key that is bad', script: answered('badKey'), fault: 'account' },
    { name: 'a gateway’s page', script: raw('<html></html>', 502, 'text/html'), fault: 'server' },
    { name: 'an error without a name', script: raw('{"detail":"Unavailable"}', 503), fault: 'server' },
    { name: 'a timeout without a name', script: raw('', 504), fault: 'server' },
    { name: 'a redirection', script: raw('', 302), fault: 'garbled' },
    { name: 'a reset', script: { kind: 'fault', fault: 'reset' }, fault: 'connection' },
    { name: 'a reset in the answer', script: { kind: 'fault', fault: 'reset in the answer' }, fault: 'connection' },
    { name: 'no JSON', script: raw('{"images":'), fault: 'garbled' },
    { name: 'a list', script: raw('[]'), fault: 'garbled' },
  ];
  for (const { name, script, fault } of AGAIN) {
    test(`that gets ${name} is ${fault}, and can be asked again`, () =>
      withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
        const ask = await submitted(image, imageRequest(), upstream);
        emulator.script('result', script);
        await assert.rejects(ask(), isFault(fault));
        assert.equal((await ask()).state, 'succeeded');
        assert.equal(emulator.tasks.length, 1);
      }));
  }

  const FINAL: readonly { name: string; body: string; status?: number; code: Code }[] = [
    { name: 'a plain 500', body: 'Internal Server Error', status: 500, code: 'upstream_failed' },
    { name: 'a 404', body: '', status: 404, code: 'upstream_failed' },
    { name: 'a 410', body: '', status: 410, code: 'upstream_failed' },
    { name: 'a refusal in words', body: '{"detail":"No."}', status: 422, code: 'upstream_rejected' },
    {
      name: 'a refusal by content rules in the other shape',
      body: '{"detail":"No.","error_type":"content_policy_violation"}',
      status: 422,
      code: 'content_rejected',
    },
    {
      name: 'several refusals, one of them by content rules',
      body: '{"detail":[{"type":"downstream_service_error"},{"type":"content_policy_violation"}]}',
      status: 422,
      code: 'content_rejected',
    },
    { name: 'nothing', body: '{}', code: 'upstream_failed' },
    { name: 'no pictures', body: '{"images":[]}', code: 'upstream_failed' },
    { name: 'pictures of a wrong type', body: '{"images":"x","seed":[]}', code: 'upstream_failed' },
    { name: 'files without addresses', body: '{"images":[{"url":7},null,{"url":""}]}', code: 'upstream_failed' },
    {
      name: 'flagged pictures only',
      body: '{"images":[{"url":"https://a.example/1"},{"url":"https://a.example/2"}],"has_nsfw_concepts":[true,true]}',
      code: 'content_rejected',
    },
  ];
  for (const { name, body, status = 200, code } of FINAL) {
    test(`that gets ${name} ends the task as ${code}`, () =>
      withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
        const ask = await submitted(image, imageRequest(), upstream);
        emulator.script('result', raw(body, status));
        assert.equal(codeOf(await ask()), code);
      }));
  }

  test('that gets an error named in a header alone ends the task', () =>
    withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
      emulator.outcome({ kind: 'failure', error: 'runnerGone' });
      const ask = await submitted(image, imageRequest(), upstream);
      emulator.script('result', { kind: 'changed', change: () => ({}) });
      assert.equal(codeOf(await ask()), 'upstream_failed');
    }));

  test('that comes too early finds the task running', () =>
    withEmulator({ readsUntilDone: 0 }, async (emulator, upstream) => {
      const ask = await submitted(image, imageRequest(), upstream);
      emulator.script('result', raw('{"detail":"Request is still in progress"}', 400));
      assert.deepEqual(await ask(), { state: 'running' });
      assert.equal((await ask()).state, 'succeeded');
    }));
});
