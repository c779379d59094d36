import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testVoiceFaults } from '../../../test/support/voice-faults.ts';
import type { Fault } from '../../errors.ts';
import { brokenClip } from '../emulator/sounds.ts';
import type { Upstream } from '../index.ts';
import { design, speechRequest, synthesize, transcribe, withEmulator } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { work as fishAudio } from './work.ts';

const WORK: Readonly<Record<string, (upstream: Upstream) => Promise<unknown>>> = {
  speech: (upstream) => synthesize(speechRequest(), upstream),
  design: (upstream) => design({}, upstream),
  transcription: (upstream) => transcribe({}, upstream, 'transcribe-1-pro'),
};

const FAULTS: Readonly<Record<ErrorName, Fault>> = {
  invalid: 'client',
  noVoice: 'client',
  badKey: 'account',
  noCredit: 'account',
  noCreditInWords: 'account',
  noApiCredit: 'account',
  tooQuiet: 'client',
  forbidden: 'account',
  lostVoice: 'client',
  noRoute: 'config',
  busy: 'rate',
  broken: 'server',
  highLoad: 'server',
  moderated: 'policy',
  unprocessable: 'client',
  unreadable: 'client',
  atTheEdge: 'unfit',
  badParameter: 'client',
  badAudio: 'client',
  tooLong: 'unfit',
  tooShort: 'client',
  tooLarge: 'unfit',
  badType: 'unfit',
  unavailable: 'server',
  tooSlow: 'server',
};

testVoiceFaults({ withEmulator, work: WORK, faults: FAULTS, errorInSuccess: '{"status":402,"message":"x"}' });

test('a voice, a key and a file that the vendor does not know', () =>
  withEmulator(async (_emulator, upstream) => {
    await assert.rejects(synthesize(speechRequest({ voice: 'nobody' }), upstream), { fault: 'client' });
    await assert.rejects(synthesize(speechRequest({ extra: { odd: 1 } }), upstream), { fault: 'client' });
    await assert.rejects(transcribe({ extra: { odd: 1 } }, upstream), { fault: 'client' });
    for (const model of ['transcribe-1', 'transcribe-1-pro'])
      await assert.rejects(transcribe({}, upstream, model, brokenClip()), { fault: 'client' });
  }));

test('an error of 500 and more is never the account’s nor the caller’s, whatever its words', () =>
  withEmulator(async (emulator, upstream) => {
    const body = '{"message":"insufficient moderation, model not found"}';
    emulator.script({ kind: 'instead', status: 503, headers: { 'retry-after': '7' }, body });
    await assert.rejects(synthesize(speechRequest(), upstream), { fault: 'server', retryAfterMs: 7000 });
  }));

test('the balance proves the key, and makes nothing', () =>
  withEmulator(async (emulator, upstream) => {
    await fishAudio.check?.run(upstream);
    await assert.rejects(async () => fishAudio.check?.run({ ...upstream, apiKey: 'other' }), { fault: 'account' });
    assert.deepEqual([emulator.requests.length, emulator.submissions.length], [2, 0]);
  }));
