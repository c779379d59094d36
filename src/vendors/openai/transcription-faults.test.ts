import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toneAs } from '../../../test/support/media-samples.ts';
import { type Fault, UpstreamError } from '../../errors.ts';
import { UPSTREAM_RESPONSE_BYTES_MAX } from '../../limits.ts';
import type { Transcript } from '../index.ts';
import { audioFile, transcribe, withTranscription } from './emulator/audio-calls.ts';
import { isFault, KEY, withEmulator } from './emulator/calls.ts';
import type { ERRORS, Script } from './emulator.ts';

const TONE = await toneAs('wav', { seconds: 0.2, sampleRate: 8000 });
const WAV = audioFile(TONE, 'audio/wav', 'wav');
const FILE_BYTES_MAX = 26_214_400;

/** A whole WAV file of so many bytes. */
function waveOf(bytes: number): Buffer {
  const wave = Buffer.alloc(bytes);
  TONE.copy(wave, 0, 0, 44);
  wave.writeUInt32LE(bytes - 8, 4);
  wave.writeUInt32LE(bytes - 44, 40);
  return wave;
}

const raw = (body: string, contentType = 'application/json', status = 200): Script => ({
  kind: 'raw',
  body,
  contentType,
  status,
});

describe('every refusal of the vendor is a fault, and a certain one', () => {
  const FAULTS: Partial<Record<keyof typeof ERRORS, Fault>> = {
    invalid: 'client',
    policy: 'policy',
    badKey: 'account',
    unpaid: 'account',
    noModel: 'config',
    tooSlow: 'timeout',
    conflict: 'server',
    throttled: 'rate',
    broken: 'server',
  };
  for (const error of Object.keys(FAULTS) as (keyof typeof ERRORS)[]) {
    test(`${error} is ${FAULTS[error]}`, () =>
      withTranscription(async (emulator, upstream) => {
        emulator.script({ kind: 'error', error });
        await assert.rejects(transcribe({}, WAV, upstream), { fault: FAULTS[error], isUncertain: false });
        assert.equal(emulator.recordings.length, 0);
      }));
  }

  test('a field, a file, a model and a key that the vendor does not take', () =>
    withTranscription(
      async (_emulator, upstream) => {
        await assert.rejects(transcribe({ extra: { odd: 1 } }, WAV, upstream), isFault('client'));
        await assert.rejects(transcribe({}, audioFile(TONE, 'audio/mpeg', 'mp3'), upstream), isFault('client'));
        await assert.rejects(transcribe({}, WAV, { ...upstream, model: 'whisper-2' }), isFault('config'));
        await assert.rejects(transcribe({}, WAV, { ...upstream, apiKey: 'sk-other' }), isFault('account'));
      },
      { apiKey: KEY, models: ['whisper-1'] },
    ));
});

describe('a file that is too large here may not be elsewhere, and the upstream is not to blame', () => {
  const unfit = { fault: 'unfit', isUncertain: false };

  test('25 MiB are taken by the format’s author, and one byte more is not sent there', () =>
    withTranscription(async (emulator, upstream) => {
      const whole = waveOf(FILE_BYTES_MAX + 1);
      const file = (bytes: Buffer) => audioFile(bytes, 'audio/wav', 'wav');
      await assert.rejects(transcribe({}, file(whole), upstream), unfit);
      assert.equal(emulator.requests.length, 0);
      await transcribe({}, file(waveOf(FILE_BYTES_MAX)), upstream);
      assert.equal(emulator.recordings[0]?.file.bytes.length, FILE_BYTES_MAX);
    }));

  test('another server is sent it all the same, and may say so itself', () =>
    withEmulator({ isLenient: true }, async (emulator, upstream) => {
      const file = audioFile(waveOf(FILE_BYTES_MAX + 1), 'audio/wav', 'wav');
      emulator.script({ kind: 'transcript' }, { kind: 'error', error: 'tooLarge' });
      await transcribe({}, file, upstream);
      assert.equal(emulator.recordings.length, 1);
      await assert.rejects(transcribe({}, file, upstream), unfit);
      assert.equal(await emulator.requests[1]?.isAbandoned, false);
    }));
});

const ANSWERS: readonly [name: string, script: Script, transcript: Transcript][] = [
  ['JSON under another type', raw('{"text":"Hi"}', 'text/plain; charset=utf-8'), { text: 'Hi' }],
  ['JSON under no type', raw(' {"text":"Hi"}\n', ''), { text: 'Hi' }],
  ['nothing but text', raw('Hi there\n', 'text/plain'), { text: 'Hi there' }],
  ['no words', raw('{"text":""}'), { text: '' }],
  ['a language in words', raw('{"text":"Hi","language":"Welsh"}'), { text: 'Hi', language: 'cy' }],
  [
    'a list of languages',
    raw('{"text":"Hi","languages":[{"code":"fr"},{"code":"en"}]}'),
    { text: 'Hi', language: 'fr' },
  ],
  ['an unknown language', raw('{"text":"Hi","language":"Elvish tongue"}'), { text: 'Hi' }],
  ['its length in its usage', raw('{"text":"Hi","usage":{"type":"duration","seconds":3}}'), { text: 'Hi', seconds: 3 }],
  [
    'words under the name of text',
    raw('{"text":"Hi","words":[{"text":"Hi","start":0,"end":0.5}]}'),
    { text: 'Hi', words: [{ word: 'Hi', start: 0, end: 0.5 }] },
  ],
  [
    'odd times, which are left out',
    raw(
      '{"text":"Hi","duration":-1,"words":[{"word":"Hi","start":"0","end":1},7],"segments":[{"text":"Hi","start":0,"end":1,"no_speech_prob":"x"},{"start":0}]}',
    ),
    { text: 'Hi', words: [], segments: [{ start: 0, end: 1, text: 'Hi' }] },
  ],
];
for (const [name, script, transcript] of ANSWERS) {
  test(`an answer with ${name} is read`, () =>
    withTranscription(async (emulator, upstream) => {
      emulator.script(script);
      assert.deepEqual(JSON.parse(JSON.stringify(await transcribe({}, WAV, upstream))), transcript);
    }));
}

const UNCERTAIN: readonly [name: string, script: Script, fault: Fault][] = [
  ['is answered with a list', raw('["Hi"]'), 'garbled'],
  ['is answered with a web page', { kind: 'fault', fault: 'wrong content type' }, 'garbled'],
  ['is accepted for later', raw('{"id":"1"}', 'application/json', 202), 'garbled'],
  ['is reset before its body is read', { kind: 'fault', fault: 'reset before the body' }, 'connection'],
  ['is reset when it is done', { kind: 'fault', fault: 'reset when done' }, 'connection'],
  ['is reset in its answer', { kind: 'fault', fault: 'reset in the body' }, 'connection'],
  ['is answered in no HTTP', { kind: 'fault', fault: 'garbage' }, 'connection'],
];
for (const [name, script, fault] of UNCERTAIN) {
  test(`a recording that ${name} fails as ${fault}, and may have been taken`, () =>
    withTranscription(async (emulator, upstream) => {
      emulator.script(script);
      await assert.rejects(transcribe({}, WAV, upstream), { fault, isUncertain: true, isTooLarge: false });
    }));
}

test('an error inside a success is the fault that it names', () =>
  withTranscription(async (emulator, upstream) => {
    emulator.script(raw('{"error":{"type":"invalid_request_error","message":"x"}}'));
    await assert.rejects(transcribe({}, WAV, upstream), { fault: 'client', isUncertain: false });
  }));

test('an answer of the most bytes is read, and one of one more is too large', () =>
  withTranscription(async (emulator, upstream) => {
    const text = 'a'.repeat(UPSTREAM_RESPONSE_BYTES_MAX - '{"text":""}'.length);
    emulator.script(raw(`{"text":"${text}"}`), raw(`{"text":"${text}a"}`));
    assert.equal((await transcribe({}, WAV, upstream)).text.length, text.length);
    await assert.rejects(transcribe({}, WAV, upstream), { fault: 'garbled', isTooLarge: true });
  }));

test('an upstream that is silent for too long may have taken the recording', () =>
  withTranscription(async (emulator, upstream) => {
    emulator.script({ kind: 'fault', fault: 'silence' });
    const hasty = { ...upstream, timeoutMs: 50 };
    await assert.rejects(transcribe({}, WAV, hasty), { fault: 'timeout', isUncertain: true });
  }));

test('a call that is given up is nobody’s fault', () =>
  withTranscription(async (emulator, upstream) => {
    const [gate, controller] = [Promise.withResolvers<void>(), new AbortController()];
    emulator.script({ kind: 'transcript', after: gate.promise });
    const refused = assert.rejects(
      transcribe({}, WAV, { ...upstream, signal: controller.signal }),
      (error) => !(error instanceof UpstreamError),
    );
    controller.abort();
    await refused;
    gate.resolve();
  }));
