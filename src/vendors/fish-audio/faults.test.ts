import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Fault, UpstreamError } from '../../errors.ts';
import type { Script } from '../emulator/scripted-server.ts';
import type { Upstream } from '../index.ts';
import { clip, design, speechRequest, synthesize, transcribe, withEmulator } from './emulator/calls.ts';
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

describe('every refusal of the vendor is a fault, and a certain one', () => {
  for (const error of Object.keys(FAULTS) as ErrorName[]) {
    test(`${error} is ${FAULTS[error]}`, () =>
      withEmulator(async (emulator, upstream) => {
        for (const work of Object.values(WORK)) {
          emulator.refuse(error);
          await assert.rejects(work(upstream), { fault: FAULTS[error], isUncertain: false });
        }
      }));
  }

  test('an empty account, a busy one and another key', () =>
    withEmulator(async (emulator, upstream) => {
      for (const work of Object.values(WORK)) {
        await assert.rejects(work({ ...upstream, apiKey: 'other' }), { fault: 'account' });
        emulator.isBusy = true;
        await assert.rejects(work(upstream), { fault: 'rate' });
        emulator.isBroke = true;
        await assert.rejects(work(upstream), { fault: 'account' });
        [emulator.isBroke, emulator.isBusy] = [false, false];
        await work(upstream);
      }
    }));

  test('a voice, a key and a file that the vendor does not know', () =>
    withEmulator(async (_emulator, upstream) => {
      await assert.rejects(synthesize(speechRequest({ voice: 'nobody' }), upstream), { fault: 'client' });
      await assert.rejects(synthesize(speechRequest({ extra: { odd: 1 } }), upstream), { fault: 'client' });
      await assert.rejects(transcribe({ extra: { odd: 1 } }, upstream), { fault: 'client' });
      const bytes = Buffer.from('no sound');
      const pieces = async function* () {
        yield bytes;
      };
      const file = { ...(await clip()), bytes: bytes.length, pieces };
      for (const model of ['transcribe-1', 'transcribe-1-pro'])
        await assert.rejects(transcribe({}, upstream, model, file), { fault: 'client' });
    }));

  test('an error of 500 and more is never the account’s nor the caller’s, whatever its words', () =>
    withEmulator(async (emulator, upstream) => {
      const body = '{"message":"insufficient moderation, model not found"}';
      emulator.script({ kind: 'instead', status: 503, headers: { 'retry-after': '7' }, body });
      await assert.rejects(synthesize(speechRequest(), upstream), { fault: 'server', retryAfterMs: 7000 });
    }));
});

const fault = (kind: Extract<Script, { kind: 'fault' }>['fault']): Script => ({ kind: 'fault', fault: kind });
const answer = (type: string, body: string): Script => {
  return { kind: 'instead', status: 200, headers: { 'content-type': type }, body };
};

const UNCERTAIN: readonly [name: string, script: Script, fault: Fault][] = [
  ['is reset before its body is read', fault('reset before the body'), 'connection'],
  ['is accepted and loses its answer', fault('reset'), 'connection'],
  ['is reset in its answer', fault('reset in the answer'), 'connection'],
  ['is answered in no HTTP', fault('garbage'), 'connection'],
  ['is answered with nothing', fault('empty'), 'garbled'],
  ['is answered with an empty document', answer('application/json', '{}'), 'garbled'],
  ['is answered with an error inside a success', answer('application/json', '{"status":402,"message":"x"}'), 'garbled'],
  ['is answered with a web page', answer('text/html', '<html></html>'), 'garbled'],
  ['is accepted for later', { kind: 'instead', status: 202, body: '{"request_id":"x"}' }, 'garbled'],
];
for (const [name, script, expected] of UNCERTAIN) {
  for (const [kind, work] of Object.entries(WORK)) {
    test(`${kind} that ${name} fails as ${expected}, and may have been done`, () =>
      withEmulator(async (emulator, upstream) => {
        emulator.script(script);
        await assert.rejects(work(upstream), { fault: expected, isUncertain: true });
      }));
  }
}

for (const [kind, work] of Object.entries(WORK)) {
  test(`${kind} does not wait in silence for ever, nor when it is given up`, () =>
    withEmulator(async (emulator, upstream) => {
      const controller = new AbortController();
      emulator.script(fault('silence'), fault('silence'));
      await assert.rejects(work({ ...upstream, timeoutMs: 50 }), { fault: 'timeout', isUncertain: true });
      const pending = work({ ...upstream, signal: controller.signal });
      const refused = assert.rejects(pending, (error) => !(error instanceof UpstreamError));
      controller.abort();
      await refused;
    }));
}

test('the balance proves the key, and makes nothing', () =>
  withEmulator(async (emulator, upstream) => {
    await fishAudio.check?.run(upstream);
    await assert.rejects(async () => fishAudio.check?.run({ ...upstream, apiKey: 'other' }), { fault: 'account' });
    assert.deepEqual([emulator.requests.length, emulator.submissions.length], [2, 0]);
  }));
