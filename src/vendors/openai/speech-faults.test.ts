import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Fault, UpstreamError } from '../../errors.ts';
import { soundAs } from './emulator/audio.ts';
import { soundRequest, speech, spoken, withSpeech } from './emulator/audio-calls.ts';
import { isFault, KEY } from './emulator/calls.ts';
import type { ERRORS, Script } from './emulator.ts';

describe('every refusal of the vendor is a fault before there is any sound', () => {
  const FAULTS: Partial<Record<keyof typeof ERRORS, Fault>> = {
    invalid: 'client',
    policy: 'policy',
    badKey: 'account',
    noQuota: 'account',
    noModel: 'config',
    tooSlow: 'timeout',
    throttled: 'rate',
    broken: 'server',
    overloaded: 'server',
  };
  for (const error of Object.keys(FAULTS) as (keyof typeof ERRORS)[]) {
    test(`${error} is ${FAULTS[error]}`, () =>
      withSpeech(async (emulator, upstream) => {
        emulator.script({ kind: 'error', error });
        const refused = { fault: FAULTS[error], isUncertain: false };
        await assert.rejects(speech.speak(soundRequest(), upstream), refused);
        assert.equal(emulator.speeches.length, 0);
      }));
  }

  test('a field, a voice, a model and a key that the vendor does not take', () =>
    withSpeech(
      async (_emulator, upstream) => {
        await assert.rejects(spoken({ extra: { odd: 1 } }, upstream), isFault('client'));
        await assert.rejects(spoken({ voice: 'nobody' }, upstream), isFault('client'));
        await assert.rejects(spoken({}, { ...upstream, model: 'tts-2' }), isFault('config'));
        await assert.rejects(spoken({}, { ...upstream, apiKey: 'sk-other' }), isFault('account'));
      },
      { apiKey: KEY, models: ['gpt-4o-mini-tts'] },
    ));
});

const raw = (body: string, contentType = 'application/json'): Script => ({ kind: 'raw', body, contentType });

const BROKEN: readonly [name: string, script: Script, fault: Fault][] = [
  ['nothing', { kind: 'sound', pieces: [] }, 'garbled'],
  ['JSON', raw('{"audio_data":"UklGRg=="}'), 'garbled'],
  ['JSON that is called a sound', raw('{"text":"no"}', 'audio/mpeg'), 'garbled'],
  ['an error inside a success', raw('{"error":{"type":"rate_limit_error"}}'), 'rate'],
  ['an error that is called a sound', raw('{"error":{"code":"insufficient_quota"}}', 'audio/mpeg'), 'account'],
  ['a web page', { kind: 'fault', fault: 'wrong content type' }, 'garbled'],
  ['events', { kind: 'fault', fault: 'empty stream' }, 'garbled'],
  ['a reset', { kind: 'fault', fault: 'reset' }, 'connection'],
  ['no HTTP', { kind: 'fault', fault: 'garbage' }, 'connection'],
];
for (const [name, script, fault] of BROKEN) {
  test(`an answer of ${name} is ${fault} before there is any sound`, () =>
    withSpeech(async (emulator, upstream) => {
      emulator.script(script);
      await assert.rejects(speech.speak(soundRequest(), upstream), isFault(fault));
    }));
}

test('an upstream that is silent before its sound is too late', () =>
  withSpeech(async (emulator, upstream) => {
    emulator.script({ kind: 'fault', fault: 'silence' }, { kind: 'sound', pieces: [], end: 'silence' });
    const hasty = { ...upstream, timeoutMs: 50 };
    await assert.rejects(speech.speak(soundRequest(), hasty), isFault('timeout'));
    await assert.rejects(speech.speak(soundRequest(), hasty), isFault('timeout'));
  }));

test('samples that happen to begin like JSON are sound', () =>
  withSpeech(async (emulator, upstream) => {
    const bytes = Buffer.from('{"\u0000\u0001 and more');
    emulator.script({ kind: 'sound', pieces: [bytes] });
    assert.deepEqual(await spoken({ format: 'pcm' }, upstream), bytes);
  }));

test('a sound that breaks off ends in a fault behind what came', () =>
  withSpeech(async (emulator, upstream) => {
    emulator.script({ kind: 'sound', pieces: [Buffer.from('first')], end: 'reset' });
    const { pieces } = await speech.speak(soundRequest(), upstream);
    const got: string[] = [];
    const all = (async () => {
      for await (const piece of pieces) got.push(piece.toString());
    })();
    await assert.rejects(all, isFault('connection'));
    assert.deepEqual(got, ['first']);
  }));

test('a later part that is refused or empty ends in a fault behind the parts before it', () =>
  withSpeech(async (emulator, upstream) => {
    for (const [script, fault] of [
      [{ kind: 'error', error: 'throttled' }, 'rate'],
      [{ kind: 'sound', pieces: [] }, 'garbled'],
    ] as const) {
      emulator.script({ kind: 'sound' }, script);
      const { pieces } = await speech.speak(soundRequest({ input: 'A word. '.repeat(1000) }), upstream);
      const got: Buffer[] = [];
      const all = (async () => {
        for await (const piece of pieces) got.push(piece);
      })();
      await assert.rejects(all, isFault(fault));
      assert.deepEqual(Buffer.concat(got), await soundAs('mp3'));
    }
  }));

test('a call that is given up is nobody’s fault', () =>
  withSpeech(async (emulator, upstream) => {
    const controller = new AbortController();
    emulator.script({ kind: 'sound', pieces: [Buffer.from('first')], end: 'silence' });
    const { pieces } = await speech.speak(soundRequest(), { ...upstream, signal: controller.signal });
    const all = (async () => {
      for await (const _piece of pieces) controller.abort();
    })();
    await assert.rejects(all, (error) => !(error instanceof UpstreamError));
  }));
