import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainTranscription } from '../../../test/support/plain-requests.ts';
import { ApiError } from '../../errors.ts';
import { type JsonObject, parseJson } from '../../json.ts';
import { clip } from '../emulator/sounds.ts';
import type { AudioFile, Transcript, Upstream } from '../index.ts';
import { KEY, transcription, withEmulator } from './emulator/calls.ts';
import type { ElevenLabsEmulator } from './emulator.ts';

type Request = Parameters<typeof transcription.submit>[0];

async function transcribed(fields: Partial<Request>, upstream: Upstream, audio?: AudioFile): Promise<Transcript> {
  const request = plainTranscription(fields);
  transcription.check(request, 'scribe_v2');
  const answer = await transcription.submit(request, audio ?? (await clip()), { ...upstream, model: 'scribe_v2' });
  assert.equal(answer.state, 'transcribed');
  return answer.transcript;
}

function withUpstream(run: (emulator: ElevenLabsEmulator, upstream: Upstream) => Promise<void>): Promise<void> {
  return withEmulator({}, run);
}

test('a clip is sent piece by piece, under a name that says its format', () =>
  withUpstream(async (emulator, upstream) => {
    const held = await clip();
    const bytes = await held.read();
    let pieces = 0;
    const audio = {
      ...held,
      read: () => assert.fail('nobody needs all of it at once'),
      async *pieces() {
        for (let at = 0; at < bytes.length; at += 100, pieces++) yield bytes.subarray(at, at + 100);
      },
    };
    await transcribed({}, upstream, audio);
    assert.deepEqual(emulator.submissions[0]?.file, { name: 'audio.flac', type: 'audio/flac', bytes });
    assert.equal(pieces, Math.ceil(bytes.length / 100));
    const [{ path, headers } = assert.fail()] = emulator.requests;
    assert.deepEqual([path, headers['xi-api-key']], ['/v1/speech-to-text', KEY]);
  }));

test('R-412: the language is a hint to the vendor, and a prompt, for which it has no field, is left out', () =>
  withUpstream(async (emulator, upstream) => {
    await transcribed({ language: 'en', prompt: 'About lighthouses', temperature: 0.5 }, upstream);
    assert.deepEqual(emulator.submissions[0]?.fields, {
      model_id: 'scribe_v2',
      timestamps_granularity: 'none',
      language_code: 'en',
      temperature: 0.5,
    });
  }));

test('what is not modelled goes on as values of the form, numbers as they were written', () =>
  withUpstream(async (emulator, upstream) => {
    const extra = parseJson(`{"keyterms":["a b","c"],"diarize":true,"num_speakers":2,"diarization_threshold":0.50,
      "additional_formats":[{"format":"srt"}],"enable_logging":false,"seed":null,"model_id":"scribe_v1",
      "webhook":false}`).exact() as JsonObject;
    const { webhook: _off, ...taken } = extra;
    await transcribed({ extra: taken }, upstream);
    assert.deepEqual(emulator.submissions[0]?.fields, {
      keyterms: ['a b', 'c'],
      diarize: true,
      num_speakers: 2,
      diarization_threshold: 0.5,
      additional_formats: '[{"format":"srt"}]',
      model_id: 'scribe_v2',
      timestamps_granularity: 'none',
    });
    assert.match(emulator.requests[0]?.bytes.toString('latin1') ?? '', /name="diarization_threshold"\r\n\r\n0\.50\r\n/);
    assert.deepEqual(emulator.submissions[0]?.query, { enable_logging: 'false' });
    transcription.check(plainTranscription({ extra }), 'scribe_v2');
  }));

describe('what comes back', () => {
  const TOLD = { text: 'Hello there. (laughter) Hi', language: 'en', seconds: 2 };

  test('is the text, its language in two letters and the length of the clip', () =>
    withUpstream(async (_emulator, upstream) => {
      for (const responseFormat of ['json', 'text'] as const) {
        assert.deepEqual(await transcribed({ responseFormat }, upstream), TOLD);
      }
    }));

  for (const asked of [{ responseFormat: 'verbose_json' }, { granularities: ['word'] }] as const) {
    test(`has times for ${JSON.stringify(asked)}`, () =>
      withUpstream(async (_emulator, upstream) => {
        assert.deepEqual(await transcribed({ ...asked, extra: { diarize: 'true' } }, upstream), {
          ...TOLD,
          words: [
            { word: 'Hello', start: 0, end: 0.4 },
            { word: 'there.', start: 0.5, end: 0.9 },
            { word: 'Hi', start: 1.4, end: 1.6 },
          ],
          segments: [
            { text: 'Hello there.', start: 0, end: 0.9 },
            { text: '(laughter)', start: 1, end: 1.3 },
            { text: 'Hi', start: 1.4, end: 1.6 },
          ],
        });
      }));
  }
});

describe('what would bring something else than a transcript of this clip is refused', () => {
  const REFUSED: readonly [extra: JsonObject, field: string][] = [
    [{ webhook: true }, 'webhook'],
    [{ webhook: 'true' }, 'webhook'],
    [{ source_url: 'https://example.com/a.mp3' }, 'source_url'],
    [{ cloud_storage_url: 'https://example.com/a.mp3' }, 'cloud_storage_url'],
    [{ file: 'x' }, 'file'],
    [{ use_multi_channel: true }, 'use_multi_channel'],
  ];
  for (const [extra, field] of REFUSED) {
    test(JSON.stringify(extra), () => {
      assert.throws(
        () => transcription.check(plainTranscription({ extra }), 'scribe_v2'),
        (error) => error instanceof ApiError && error.message.startsWith(`"${field}"`),
      );
    });
  }

  test('a temperature of 0 to 2 is taken, and no other', () => {
    const check = (temperature: number) => transcription.check(plainTranscription({ temperature }), 'scribe_v2');
    for (const temperature of [0, 2]) check(temperature);
    for (const temperature of [-0.1, 2.1]) assert.throws(() => check(temperature), { code: 'unsupported_parameter' });
  });
});

test('a clip that cannot be read ends the call as it is', () =>
  withUpstream(async (_emulator, upstream) => {
    const broken = new Error('the disk is gone');
    const audio = {
      ...(await clip()),
      async *pieces(): AsyncGenerator<Buffer> {
        yield Buffer.from('fLaC');
        throw broken;
      },
    };
    await assert.rejects(transcribed({}, upstream, audio), broken);
  }));
