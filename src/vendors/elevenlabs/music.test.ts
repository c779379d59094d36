import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainSound } from '../../../test/support/plain-requests.ts';
import { ApiError, UpstreamError } from '../../errors.ts';
import type { SoundRequest } from '../../schemas/index.ts';
import { inMemoryMedia, type Media, type Upstream } from '../index.ts';
import { music, withEmulator } from './emulator/calls.ts';
import { soundOf } from './emulator/sounds.ts';

type Sound = SoundRequest<Media>;

const ORDER = { id: 'order', count: 1, startWithinMs: 60_000 };
const EFFECTS = 'eleven_text_to_sound_v2';
const song = (fields: Partial<Sound> = {}) => plainSound({ prompt: 'A slow waltz, two violins', ...fields });

async function made(request: Sound, upstream: Upstream) {
  music.check(request, upstream.model);
  const submitted = await music.submit(request, ORDER, upstream);
  assert.ok(submitted.state === 'succeeded');
  const [output = assert.fail()] = submitted.outputs;
  assert.ok('data' in output);
  return { data: output.data, usage: submitted.usage };
}

test('a song is a prompt, its length and whether it is sung; what it took is told', () =>
  withEmulator({}, async (emulator, upstream) => {
    const asked = song({ durationSeconds: 3.5, instrumental: true, n: 2 });
    const { data, usage } = await made(asked, { ...upstream, model: 'music_v1' });
    assert.deepEqual(data, await soundOf('mp3_44100_128', 3.5));
    assert.deepEqual(usage, { credits: 7 });
    const [{ path, method, bytes } = assert.fail()] = emulator.requests;
    assert.equal(`${method} ${path}`, 'POST /v1/music?output_format=mp3_44100_128');
    assert.deepEqual(JSON.parse(bytes.toString()), {
      model_id: 'music_v1',
      prompt: 'A slow waltz, two violins',
      music_length_ms: 3500,
      force_instrumental: true,
    });
    assert.equal(music.perCall(asked, 'music_v1'), 1);
  }));

test('a text without a prompt is the prompt, and the vendor chooses a length that was not asked for', () =>
  withEmulator({}, async (emulator, upstream) => {
    await made(plainSound({ input: 'Rain' }), { ...upstream, model: 'music_v2_5' });
    assert.deepEqual(emulator.submissions[0]?.fields, { model_id: 'music_v2_5', prompt: 'Rain' });
  }));

const LYRICS = '[Verse]\n\nOne line\nTwo lines\n\nThree lines\n[Chorus]\nFour\nFive';

test('lyrics are the sections of a plan, whose lengths add up to what was asked for', () =>
  withEmulator({}, async (emulator, upstream) => {
    const asked = song({ lyrics: LYRICS, durationSeconds: 14, seed: 5 });
    await made(asked, { ...upstream, model: 'music_v1' });
    const section = { positive_local_styles: [], negative_local_styles: [] };
    assert.deepEqual(emulator.submissions[0]?.fields, {
      model_id: 'music_v1',
      seed: 5,
      composition_plan: {
        positive_global_styles: ['A slow waltz', 'two violins'],
        negative_global_styles: [],
        sections: [
          { ...section, section_name: 'Verse', duration_ms: 5000, lines: ['One line', 'Two lines'] },
          { ...section, section_name: 'Part 2', duration_ms: 4000, lines: ['Three lines'] },
          { ...section, section_name: 'Chorus', duration_ms: 5000, lines: ['Four', 'Five'] },
        ],
      },
    });
  }));

test('later models take the same as chunks, and without a length each line is sung for a while', () =>
  withEmulator({}, async (emulator, upstream) => {
    await made(plainSound({ lyrics: 'One\nTwo\n\nThree' }), { ...upstream, model: 'music_v2' });
    const chunk = { positive_styles: [], negative_styles: [] };
    assert.deepEqual(emulator.submissions[0]?.fields, {
      model_id: 'music_v2',
      composition_plan: {
        chunks: [
          { ...chunk, text: '[Part 1]\nOne\nTwo', duration_ms: 7000 },
          { ...chunk, text: '[Part 2]\nThree', duration_ms: 5000 },
        ],
      },
    });
  }));

test('a section of more lines than one may have goes on in the next', () =>
  withEmulator({}, async (emulator, upstream) => {
    const lyrics = Array.from({ length: 31 }, (_, at) => `Line ${at}`).join('\n');
    await made(plainSound({ lyrics, durationSeconds: 6 }), { ...upstream, model: 'music_v1' });
    const [{ fields } = assert.fail()] = emulator.submissions;
    const { sections } = fields.composition_plan as { sections: { lines: string[] }[] };
    assert.deepEqual(
      sections.map(({ lines }) => lines.length),
      [30, 1],
    );
  }));

describe('formats of songs', () => {
  const FORMATS: readonly [asked: Partial<Sound>, name: string][] = [
    [{ sampleRate: 48_000 }, 'mp3_48000_192'],
    [{ bitrate: 320 }, 'mp3_48000_320'],
    [{ sampleRate: 48_000, bitrate: 240_000 }, 'mp3_48000_240'],
    [{ format: 'opus' }, 'opus_48000_128'],
  ];
  for (const [asked, name] of FORMATS) {
    test(`${JSON.stringify(asked)} is ${name}`, () =>
      withEmulator({}, async (emulator, upstream) => {
        await made(song({ durationSeconds: 3, ...asked }), { ...upstream, model: 'music_v2' });
        assert.equal(emulator.submissions[0]?.query.output_format, name);
      }));
  }
});

test('a sound effect is made as a job too', () =>
  withEmulator({}, async (emulator, upstream) => {
    const asked = plainSound({ prompt: 'Rain', durationSeconds: 1.5, promptInfluence: 0.4, loop: true });
    const { data } = await made(asked, { ...upstream, model: EFFECTS });
    assert.deepEqual(data, await soundOf('mp3_44100_128', 1.5));
    assert.equal(emulator.submissions[0]?.route, 'effect');
    const fields = { text: 'Rain', duration_seconds: 1.5, prompt_influence: 0.4, loop: true };
    assert.deepEqual(emulator.submissions[0]?.fields, { model_id: EFFECTS, ...fields });
  }));

describe('what a model cannot take is refused before anything is sent', () => {
  const sample = inMemoryMedia(Buffer.from('x'), 'audio/wav');
  const CASES: readonly [model: string, asked: Sound, field: string][] = [
    ['music_v1', song({ input: 'x' }), 'input'],
    ['music_v1', song({ prompt: undefined }), 'prompt'],
    ['music_v1', song({ voice: 'x' }), 'voice'],
    ['music_v1', song({ referenceId: 'x' }), 'reference_id'],
    ['music_v1', song({ language: 'en' }), 'language'],
    ['music_v1', song({ loop: true }), 'loop'],
    ['music_v1', song({ referenceAudio: [sample] }), 'reference_audio'],
    ['music_v1', song({ guidanceScale: 1 }), 'guidance_scale'],
    ['music_v1', song({ seed: 1 }), 'seed'],
    ['music_v1', song({ durationSeconds: 2.9 }), 'duration_seconds'],
    ['music_v1', song({ durationSeconds: 601 }), 'duration_seconds'],
    ['music_v1', song({ lyrics: 'x', instrumental: true }), 'instrumental'],
    ['music_v1', song({ lyrics: ' \n ' }), 'lyrics'],
    ['music_v1', song({ lyrics: 'x'.repeat(201) }), 'lyrics'],
    ['music_v1', song({ lyrics: 'x\n\n'.repeat(201) }), 'lyrics'],
    ['music_v1', song({ lyrics: 'x\n\ny', durationSeconds: 5 }), 'duration_seconds'],
    ['music_v1', song({ lyrics: 'x', durationSeconds: 121 }), 'duration_seconds'],
    ['music_v1', song({ format: 'pcm' }), 'response_format'],
    ['music_v1', song({ format: 'wav' }), 'response_format'],
    ['music_v1', song({ extra: { composition_plan: {} } }), 'composition_plan'],
    ['music_v1', song({ extra: { music_length_ms: 600_000 } }), 'music_length_ms'],
    ['music_v1', song({ extra: { output_format: 'auto' } }), 'output_format'],
    [EFFECTS, song({ format: 'pcm' }), 'response_format'],
    [EFFECTS, song({ lyrics: 'x' }), 'lyrics'],
  ];
  for (const [at, [model, asked, field]] of CASES.entries()) {
    test(`${model}: ${field} (${at + 1})`, () => {
      assert.throws(
        () => music.check(asked, model),
        (error: unknown) => error instanceof ApiError && error.param === field,
      );
    });
  }
});

test('what is no sound is garbled, and may have been made', () =>
  withEmulator({}, async (emulator, upstream) => {
    const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html></html>' };
    emulator.script({ kind: 'instead', ...page }, { kind: 'fault', fault: 'reset in the answer' });
    for (const fault of ['garbled', 'connection']) {
      const submitting = music.submit(song({ durationSeconds: 3 }), ORDER, { ...upstream, model: 'music_v1' });
      await assert.rejects(submitting, (error: unknown) => {
        assert.ok(error instanceof UpstreamError);
        assert.deepEqual([error.fault, error.isUncertain], [fault, true]);
        return true;
      });
    }
  }));
