import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testVoiceFaults } from '../../../test/support/voice-faults.ts';
import type { Fault } from '../../errors.ts';
import { brokenClip } from '../emulator/sounds.ts';
import type { Upstream } from '../index.ts';
import { speechRequest, synthesize, transcribe, withEmulator } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { work as cartesia } from './work.ts';

const WORK: Readonly<Record<string, (upstream: Upstream) => Promise<unknown>>> = {
  speech: (upstream) => synthesize(speechRequest(), upstream),
  transcription: (upstream) => transcribe({}, upstream),
};

const FAULTS: Readonly<Record<ErrorName, Fault>> = {
  invalid: 'client',
  badAudio: 'client',
  noVersion: 'client',
  badKey: 'account',
  noCredit: 'account',
  noCreditThrottled: 'account',
  noCreditInWords: 'account',
  noPlan: 'account',
  noVoice: 'client',
  noVoiceInWords: 'client',
  noModel: 'config',
  noRoute: 'config',
  tooLarge: 'unfit',
  busy: 'rate',
  moderated: 'policy',
  broken: 'server',
  unavailable: 'server',
  ofOld: 'client',
};

testVoiceFaults({ withEmulator, work: WORK, faults: FAULTS, errorInSuccess: '{"error_code":"x"}' });

test('a voice, a model, a language, a key and a file that the vendor does not know', () =>
  withEmulator(async (_emulator, upstream) => {
    await assert.rejects(synthesize(speechRequest({ voice: 'nobody' }), upstream), { fault: 'client' });
    await assert.rejects(synthesize(speechRequest(), { ...upstream, model: 'sonic-9' }), { fault: 'config' });
    await assert.rejects(transcribe({ language: 'xx' }, upstream), { fault: 'client' });
    await assert.rejects(synthesize(speechRequest({ extra: { odd: 1 } }), upstream), { fault: 'client' });
    await assert.rejects(transcribe({}, upstream, brokenClip()), { fault: 'client' });
  }));

test('an error of 500 and more is never the account’s nor the caller’s, whatever its words', () =>
  withEmulator(async (emulator, upstream) => {
    const body = '{"error_code":null,"title":"Credit limit reached","message":"moderation"}';
    emulator.script({ kind: 'instead', status: 503, headers: { 'retry-after': '7' }, body });
    await assert.rejects(synthesize(speechRequest(), upstream), { fault: 'server', retryAfterMs: 7000 });
  }));

test('a list of voices proves the key, and makes nothing', () =>
  withEmulator(async (emulator, upstream) => {
    await cartesia.check?.run(upstream);
    await assert.rejects(async () => cartesia.check?.run({ ...upstream, apiKey: 'other' }), { fault: 'account' });
    assert.deepEqual([emulator.requests.length, emulator.submissions.length], [2, 0]);
  }));
