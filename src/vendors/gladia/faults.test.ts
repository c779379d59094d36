import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testVoiceFaults } from '../../../test/support/voice-faults.ts';
import type { Fault } from '../../errors.ts';
import { brokenClip } from '../emulator/sounds.ts';
import { accepted, poll, withEmulator } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { work as gladia } from './work.ts';

const FAULTS: Readonly<Record<ErrorName, Fault>> = {
  invalid: 'client',
  noModel: 'config',
  badAudio: 'client',
  badKey: 'account',
  noCredit: 'account',
  noCreditOfHours: 'account',
  noCreditThrottled: 'account',
  noCreditInWords: 'account',
  noPlan: 'account',
  noTask: 'config',
  tooLarge: 'unfit',
  unprocessable: 'client',
  tooMany: 'rate',
  busy: 'rate',
  broken: 'server',
  unavailable: 'server',
};

const SUITE = { withEmulator, faults: FAULTS, errorInSuccess: '{"statusCode":402,"message":"x"}' };
testVoiceFaults({ ...SUITE, work: { upload: (upstream) => accepted(upstream) }, isUncertain: false });
testVoiceFaults({ ...SUITE, work: { creation: (upstream) => accepted(upstream) }, requestsBefore: 1 });

for (const [error, fault] of (Object.entries(FAULTS) as [ErrorName, Fault][]).filter(([name]) => name !== 'noTask')) {
  test(`${error} at a question after a task is ${fault}, and says nothing of the task`, () =>
    withEmulator(async (emulator, upstream) => {
      const task = await accepted(upstream);
      emulator.refuse(error);
      await assert.rejects(poll(task, upstream), { fault });
      assert.equal((await poll(task, upstream)).state, 'transcribed');
    }));
}

test('a key, a language, a model and a file that the vendor does not know', () =>
  withEmulator(async (_emulator, upstream) => {
    await assert.rejects(accepted(upstream, { extra: { odd: 1 } }), { fault: 'client' });
    await assert.rejects(accepted(upstream, { language: 'xx' }), { fault: 'client' });
    await assert.rejects(accepted({ ...upstream, model: 'solaria-9' }), { fault: 'config' });
    await assert.rejects(accepted(upstream, {}, brokenClip()), { fault: 'client' });
  }));

test('an error of 500 and more is never the account’s, whatever its words', () =>
  withEmulator(async (emulator, upstream) => {
    const body = '{"message":"payment: too many requests"}';
    emulator.script({ kind: 'instead', status: 503, headers: { 'retry-after': '7' }, body });
    await assert.rejects(accepted(upstream), { fault: 'server', retryAfterMs: 7000 });
  }));

test('a list of transcripts proves the key, and makes nothing', () =>
  withEmulator(async (emulator, upstream) => {
    await gladia.check?.run(upstream);
    await assert.rejects(async () => gladia.check?.run({ ...upstream, apiKey: 'other' }), { fault: 'account' });
    assert.deepEqual([emulator.requests.length, emulator.submissions.length], [2, 0]);
  }));
