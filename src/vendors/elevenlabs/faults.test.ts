import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainSound, plainTranscription } from '../../../test/support/plain-requests.ts';
import { type Fault, UpstreamError } from '../../errors.ts';
import { UPSTREAM_RESPONSE_BYTES_MAX } from '../../limits.ts';
import type { Script } from '../emulator/scripted-server.ts';
import { clip } from '../emulator/sounds.ts';
import type { Upstream } from '../index.ts';
import { music, speech, spoken, synthesize, transcription, withEmulator } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';

/** Everything that the vendor does, taken to its end. */
const WORK: Readonly<Record<string, (upstream: Upstream) => Promise<unknown>>> = {
  speech: (upstream) => synthesize(spoken(), upstream),
  effect: (upstream) => synthesize(plainSound({ prompt: 'Rain' }), { ...upstream, model: 'eleven_text_to_sound_v2' }),
  music: (upstream) =>
    music.submit(
      plainSound({ prompt: 'A march', durationSeconds: 3 }),
      { id: 'order', count: 1, startWithinMs: 60_000 },
      { ...upstream, model: 'music_v1' },
    ),
  design: (upstream) => {
    const request = plainSound({ voiceDescription: 'A sassy squeaky mouse' });
    return Promise.resolve(speech.design?.(request, { ...upstream, model: 'eleven_ttv_v3' }));
  },
  transcription: async (upstream) =>
    transcription.submit(plainTranscription(), await clip(), { ...upstream, model: 'scribe_v2' }),
};

describe('every refusal of the vendor is a fault, and a certain one', () => {
  const FAULTS: Readonly<Record<ErrorName, Fault>> = {
    invalid: 'client',
    textTooLong: 'client',
    emptyText: 'client',
    badFormat: 'client',
    badSettings: 'client',
    badPlan: 'client',
    noTranscript: 'config',
    noWebhook: 'config',
    otherModel: 'config',
    badKey: 'account',
    noKey: 'account',
    noCredit: 'account',
    noPlan: 'account',
    otherVoice: 'client',
    noVoice: 'client',
    noModel: 'config',
    throttled: 'rate',
    tooManyAtOnce: 'rate',
    busy: 'rate',
    newThrottle: 'rate',
    newModeration: 'policy',
    broken: 'server',
    maintenance: 'server',
    oldTextTooLong: 'client',
    oldNoVoice: 'client',
    oldBadKey: 'account',
    oldNoCredit: 'account',
    oldUnusual: 'account',
    oldNoPlan: 'account',
    oldPolicy: 'policy',
    oldBlocked: 'policy',
    oldBadPrompt: 'policy',
    oldThrottled: 'rate',
    oldThrottledForCredit: 'account',
    unprocessable: 'client',
  };
  for (const error of Object.keys(FAULTS) as ErrorName[]) {
    test(`${error} is ${FAULTS[error]}`, () =>
      withEmulator({}, async (emulator, upstream) => {
        for (const work of Object.values(WORK)) {
          emulator.refuse(error);
          await assert.rejects(work(upstream), { fault: FAULTS[error], isUncertain: false });
        }
      }));
  }

  const STATUSES: readonly [status: number, body: string, fault: Fault][] = [
    [401, 'no JSON', 'account'],
    [403, '{"detail":"Forbidden"}', 'account'],
    [404, '{"detail":"Not Found"}', 'config'],
    [408, '', 'timeout'],
    [409, '{}', 'server'],
    [425, '{}', 'server'],
    [429, '{"detail":null}', 'rate'],
    [422, '{"detail":[]}', 'client'],
    [502, '<html>', 'server'],
  ];
  for (const [status, body, fault] of STATUSES) {
    test(`${status} with ${body || 'nothing'} is ${fault}`, () =>
      withEmulator({}, async (emulator, upstream) => {
        emulator.script({ kind: 'instead', status, body });
        await assert.rejects(synthesize(spoken(), upstream), { fault, isUncertain: false });
      }));
  }

  test('a field, a model, a voice and a key that the vendor does not take', () =>
    withEmulator({ voices: [] }, async (_emulator, upstream) => {
      await assert.rejects(synthesize(spoken({ extra: { odd: 1 } }), upstream), { fault: 'client' });
      await assert.rejects(synthesize(spoken({ speed: 4 }), upstream), { fault: 'client' });
      await assert.rejects(synthesize(spoken(), upstream), { fault: 'client' });
      await assert.rejects(synthesize(spoken(), { ...upstream, apiKey: 'other' }), { fault: 'account' });
      const other = { ...upstream, model: 'scribe_v9' };
      await assert.rejects(transcription.submit(plainTranscription(), await clip(), other), { fault: 'client' });
    }));

  test('a throttle tells how long to stay away', () =>
    withEmulator({}, async (emulator, upstream) => {
      emulator.script({ kind: 'instead', status: 429, headers: { 'retry-after': '7' }, body: '' });
      await assert.rejects(synthesize(spoken(), upstream), { fault: 'rate', retryAfterMs: 7000 });
    }));
});

const fault = (kind: Extract<Script, { kind: 'fault' }>['fault']): Script => ({ kind: 'fault', fault: kind });
const answer = (type: string, body: string): Script => {
  return { kind: 'instead', status: 200, headers: { 'content-type': type }, body };
};

const UNCERTAIN: readonly [name: string, script: Script, fault: Fault][] = [
  ['is reset before its body is read', fault('reset before the body'), 'connection'],
  ['is reset before its answer', fault('reset'), 'connection'],
  ['is reset in its answer', fault('reset in the answer'), 'connection'],
  ['is answered in no HTTP', fault('garbage'), 'connection'],
  ['is answered with nothing', fault('empty'), 'garbled'],
  ['is answered with an empty document', answer('application/json', '{}'), 'garbled'],
  ['is answered with a list', answer('application/json; charset=utf-8', '[]'), 'garbled'],
  ['is answered with an error inside a success', answer('application/json', '{"detail":{"status":"x"}}'), 'garbled'],
  ['is answered with a web page', answer('text/html', '<html></html>'), 'garbled'],
  ['is accepted for later', { kind: 'instead', status: 202, body: '{"request_id":"x"}' }, 'garbled'],
];
/** Of a recording, no answer is one without text, and the caller is told so. */
const IS_ANSWER = ['is answered with nothing', 'is answered with an empty document'];
for (const [name, script, expected] of UNCERTAIN) {
  for (const [kind, work] of Object.entries(WORK)) {
    if (kind === 'transcription' && IS_ANSWER.includes(name)) continue;
    test(`${kind} that ${name} fails as ${expected}, and may have been done`, () =>
      withEmulator({}, async (emulator, upstream) => {
        emulator.script(script);
        await assert.rejects(work(upstream), { fault: expected, isUncertain: true });
      }));
  }
}

for (const [kind, work] of Object.entries(WORK)) {
  test(`${kind} does not wait in silence for ever, nor when it is given up`, () =>
    withEmulator({}, async (emulator, upstream) => {
      const controller = new AbortController();
      emulator.script(fault('silence'), fault('silence'));
      await assert.rejects(work({ ...upstream, timeoutMs: 50 }), { fault: 'timeout', isUncertain: true });
      const left = work({ ...upstream, signal: controller.signal });
      const refused = assert.rejects(left, (error) => !(error instanceof UpstreamError));
      controller.abort();
      await refused;
    }));
}

test('previews that lack their voice or their sound are left out', () =>
  withEmulator({}, async (emulator, upstream) => {
    const previews = [
      { audio_base_64: 'aGk=' },
      { generated_voice_id: 'a' },
      { generated_voice_id: 'b', audio_base_64: '' },
      { generated_voice_id: 'c', audio_base_64: 7 },
      'd',
      { generated_voice_id: 'e', audio_base_64: 'aGk=', media_type: 'audio/mpeg' },
    ];
    emulator.script(answer('application/json', JSON.stringify({ previews, text: '' })));
    const request = plainSound({ voiceDescription: 'x' });
    const designed = await speech.design?.(request, { ...upstream, model: 'eleven_ttv_v3' });
    assert.deepEqual(designed, [{ voiceId: 'e', name: undefined, description: 'x', audio: Buffer.from('hi') }]);
  }));

test('previews and transcripts of 32 MiB are read, and nothing larger', () =>
  withEmulator({}, async (emulator, upstream) => {
    const padded = (body: object, length: number) => {
      const text = JSON.stringify({ ...body, pad: '' });
      return text.replace('"pad":""', `"pad":"${' '.repeat(length - text.length)}"`);
    };
    const previews = [{ generated_voice_id: 'e', audio_base_64: 'aGk=' }];
    for (const [kind, body] of [
      ['design', { previews }],
      ['transcription', { text: 'x' }],
    ] as const) {
      const most = padded(body, UPSTREAM_RESPONSE_BYTES_MAX);
      emulator.script(answer('application/json', most), answer('application/json', `${most} `));
      await WORK[kind]?.(upstream);
      await assert.rejects(WORK[kind]?.(upstream) ?? assert.fail(), { fault: 'garbled', isUncertain: true });
    }
  }));
