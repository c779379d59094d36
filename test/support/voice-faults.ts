import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Fault, UpstreamError } from '../../src/errors.ts';
import type { Script, ScriptedServer } from '../../src/vendors/emulator/scripted-server.ts';
import type { Speech, Upstream } from '../../src/vendors/index.ts';

interface VoiceEmulator<ErrorName> {
  isBusy: boolean;
  isBroke: boolean;
  refuse(...errors: ErrorName[]): void;
  script(...scripts: Script[]): void;
}

/** A vendor of speech or transcripts, and one of the requests that its work consists of. */
interface VoiceVendor<ErrorName extends string> {
  readonly withEmulator: (
    run: (emulator: VoiceEmulator<ErrorName>, upstream: Upstream) => Promise<void>,
  ) => Promise<void>;
  readonly work: Readonly<Record<string, (upstream: Upstream) => Promise<unknown>>>;
  readonly faults: Readonly<Record<ErrorName, Fault>>;
  /** A body with an error of the vendor's shape, which it does not send with a success. */
  readonly errorInSuccess: string;
  /** How many requests of the work are answered before the one that fails. */
  readonly requestsBefore?: number;
  /** Whether the work may have been done where the request has no answer; false of an upload. */
  readonly isUncertain?: boolean;
}

const fault = (kind: Extract<Script, { kind: 'fault' }>['fault']): Script => ({ kind: 'fault', fault: kind });
const answer = (type: string, body: string): Script => {
  return { kind: 'instead', status: 200, headers: { 'content-type': type }, body };
};

/** Every way in which a call fails, for each kind of the vendor's work. */
export function testVoiceFaults<ErrorName extends string>(vendor: VoiceVendor<ErrorName>): void {
  const { withEmulator, work, isUncertain = true, requestsBefore = 0 } = vendor;
  testRefusals(vendor);
  for (const [name, script, expected] of uncertainOutcomes(vendor.errorInSuccess)) {
    for (const [kind, call] of Object.entries(work)) {
      test(`${kind} that ${name} fails as ${expected}, and ${isUncertain ? 'may have' : 'has not'} been done`, () =>
        withEmulator(async (emulator, upstream) => {
          emulator.script(...usualAnswers(requestsBefore), script);
          await assert.rejects(call(upstream), { fault: expected, isUncertain });
        }));
    }
  }
  // The short time would end the requests before it.
  if (requestsBefore > 0) return;
  for (const [kind, call] of Object.entries(work)) {
    test(`${kind} does not wait in silence for ever, nor when it is given up`, () =>
      withEmulator(async (emulator, upstream) => {
        const controller = new AbortController();
        emulator.script(fault('silence'), fault('silence'));
        await assert.rejects(call({ ...upstream, timeoutMs: 50 }), { fault: 'timeout', isUncertain });
        const pending = call({ ...upstream, signal: controller.signal });
        const refused = assert.rejects(pending, (error) => !(error instanceof UpstreamError));
        controller.abort();
        await refused;
      }));
  }
}

const usualAnswers = (requests: number): Script[] => Array.from({ length: requests }, () => ({ kind: 'answer' }));

function testRefusals<ErrorName extends string>(vendor: VoiceVendor<ErrorName>): void {
  const { withEmulator, work, faults, requestsBefore = 0 } = vendor;
  describe('every refusal of the vendor is a fault, and a certain one', () => {
    for (const error of Object.keys(faults) as ErrorName[]) {
      test(`${error} is ${faults[error]}`, () =>
        withEmulator(async (emulator, upstream) => {
          for (const call of Object.values(work)) {
            emulator.script(...usualAnswers(requestsBefore));
            emulator.refuse(error);
            await assert.rejects(call(upstream), { fault: faults[error], isUncertain: false });
          }
        }));
    }

    test('an empty account, a busy one and another key', () =>
      withEmulator(async (emulator, upstream) => {
        for (const call of Object.values(work)) {
          await assert.rejects(call({ ...upstream, apiKey: 'other' }), { fault: 'account' });
          emulator.isBusy = true;
          await assert.rejects(call(upstream), { fault: 'rate' });
          emulator.isBroke = true;
          await assert.rejects(call(upstream), { fault: 'account' });
          [emulator.isBroke, emulator.isBusy] = [false, false];
          await call(upstream);
        }
      }));
  });
}

function uncertainOutcomes(errorInSuccess: string): readonly [name: string, script: Script, fault: Fault][] {
  return [
    ['is reset before its body is read', fault('reset before the body'), 'connection'],
    ['is accepted and loses its answer', fault('reset'), 'connection'],
    ['is reset in its answer', fault('reset in the answer'), 'connection'],
    ['is answered in no HTTP', fault('garbage'), 'connection'],
    ['is answered with nothing', fault('empty'), 'garbled'],
    ['is answered with an empty document', answer('application/json', '{}'), 'garbled'],
    ['is answered with an error inside a success', answer('application/json', errorInSuccess), 'garbled'],
    ['is answered with a web page', answer('text/html', '<html></html>'), 'garbled'],
    ['is accepted for later', { kind: 'instead', status: 202, body: '{"request_id":"x"}' }, 'garbled'],
  ];
}

interface SpeakingVendor {
  readonly withEmulator: (
    run: (emulator: Pick<ScriptedServer, 'requests' | 'script'>, upstream: Upstream) => Promise<void>,
  ) => Promise<void>;
  readonly speak: (upstream: Upstream) => Promise<Speech>;
}

export function testLeavingReader({ withEmulator, speak }: SpeakingVendor): void {
  test('a reader that stops lets the vendor go', () =>
    withEmulator(async (emulator, upstream) => {
      const gate = Promise.withResolvers<void>();
      async function* body() {
        yield Buffer.from('one');
        await gate.promise;
      }
      emulator.script({ kind: 'instead', status: 200, headers: { 'content-type': 'audio/mpeg' }, body: body() });
      const { pieces } = await speak(upstream);
      const reading = pieces[Symbol.asyncIterator]();
      assert.deepEqual(await reading.next(), { value: Buffer.from('one'), done: false });
      await reading.return?.();
      assert.equal(await emulator.requests[0]?.isAbandoned, true);
      gate.resolve();
    }));
}
