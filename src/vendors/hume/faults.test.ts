import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testVoiceFaults } from '../../../test/support/voice-faults.ts';
import type { Fault } from '../../errors.ts';
import type { Upstream } from '../index.ts';
import { design, speechRequest, synthesize, withEmulator } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { work as hume } from './work.ts';

const WORK: Readonly<Record<string, (upstream: Upstream) => Promise<unknown>>> = {
  speech: (upstream) => synthesize(speechRequest(), upstream),
  design: (upstream) => design({}, upstream),
};

const FAULTS: Readonly<Record<ErrorName, Fault>> = {
  invalid: 'client',
  needsVoice: 'client',
  noVoice: 'client',
  noRoute: 'config',
  badKey: 'account',
  badKeyInWords: 'account',
  atTheEdge: 'account',
  noCredit: 'account',
  noCreditThrottled: 'account',
  noCreditInWords: 'account',
  unpaid: 'account',
  busy: 'rate',
  throttled: 'rate',
  moderated: 'policy',
  unprocessable: 'client',
  tooLarge: 'unfit',
  broken: 'server',
  unavailable: 'server',
};

testVoiceFaults({ withEmulator, work: WORK, faults: FAULTS, errorInSuccess: '{"code":"x"}' });

test('a voice and a key that the vendor does not know', () =>
  withEmulator(async (_emulator, upstream) => {
    await assert.rejects(synthesize(speechRequest({ voice: 'nobody' }), upstream), { fault: 'client' });
    await assert.rejects(synthesize(speechRequest({ extra: { odd: 1 } }), upstream), { fault: 'client' });
    await assert.rejects(design({ extra: { odd: 1 } }, upstream), { fault: 'client' });
  }));

test('an error of 500 and more is never the account’s nor the caller’s, whatever its words', () =>
  withEmulator(async (emulator, upstream) => {
    const body = '{"error":"Out of credits","message":"moderation"}';
    emulator.script({ kind: 'instead', status: 503, headers: { 'retry-after': '7' }, body });
    await assert.rejects(synthesize(speechRequest(), upstream), { fault: 'server', retryAfterMs: 7000 });
  }));

test('a list of voices proves the key, and makes nothing', () =>
  withEmulator(async (emulator, upstream) => {
    await hume.check?.run(upstream);
    await assert.rejects(async () => hume.check?.run({ ...upstream, apiKey: 'other' }), { fault: 'account' });
    assert.deepEqual([emulator.requests.length, emulator.submissions.length], [2, 0]);
  }));
