import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf, soundOf } from '../../test/support/media-bodies.ts';
import { plainSound } from '../../test/support/plain-requests.ts';
import { NAME_CHARS_MAX, REFERENCES_MAX, SPOKEN_CHARS_MAX, VOICE_SAMPLE_BASE64_CHARS_MAX } from '../limits.ts';

const LEAST = { model: 'studio/voice', input: 'Good morning.' };
const outcome = (more: object) => outcomeOf(() => soundOf({ ...LEAST, ...more }));
const CLIP_URL = 'https://sounds.example/a.mp3';

const WAV = Buffer.from(`524946462400000057415645666d7420${'00'.repeat(28)}`, 'hex');
const MP3 = Buffer.from(`fffb9064${'00'.repeat(60)}`, 'hex');
const TAGGED_MP3 = Buffer.from(`494433040000${'00'.repeat(60)}`, 'hex');
const OGG = Buffer.from(`4f676753${'00'.repeat(300)}`, 'hex');
const inline = (bytes: Buffer, type = 'audio/mpeg') => `data:${type};base64,${bytes.toString('base64')}`;

test('R-373 R-402: the least that can be asked becomes a whole request', () => {
  assert.deepEqual(soundOf(LEAST), plainSound(LEAST));
});

test('R-378 R-379 R-380 R-381 R-382 R-384 R-385 R-404: everything that can be asked is kept with its type', () => {
  const body = {
    ...LEAST,
    prompt: 'cheerful',
    lyrics: 'la la',
    voice: 'anna',
    reference_id: 'v-1',
    voice_description: 'deep',
    language: 'en',
    response_format: 'opus',
    output: 'url',
    speed: 1.25,
    volume: -2.5,
    loudness: 0,
    guidance_scale: 3.5,
    prompt_influence: 0.3,
    sample_rate: 44_100,
    bitrate: 128,
    duration_seconds: 12.5,
    n: 2,
    seed: 42,
    instrumental: false,
    loop: true,
    auto_generate_text: true,
    reference_audio: [CLIP_URL, inline(MP3)],
    emotion: 'joy',
  };
  assert.deepEqual(soundOf(body), {
    kind: 'audio',
    ...LEAST,
    prompt: 'cheerful',
    lyrics: 'la la',
    voice: 'anna',
    referenceId: 'v-1',
    voiceDescription: 'deep',
    language: 'en',
    format: 'opus',
    output: 'url',
    speed: 1.25,
    volume: -2.5,
    loudness: 0,
    guidanceScale: 3.5,
    promptInfluence: 0.3,
    sampleRate: 44_100,
    bitrate: 128,
    durationSeconds: 12.5,
    n: 2,
    seed: 42,
    instrumental: false,
    loop: true,
    autoGenerateText: true,
    referenceAudio: [
      { from: 'url', url: CLIP_URL },
      { from: 'bytes', bytes: MP3 },
    ],
    extra: { emotion: 'joy' },
  });
});

for (const [body, code] of [
  [{ input: 'x' }, 'missing_model'],
  [{ model: '', n: 9 }, 'missing_model'],
  [{ model: 'm' }, 'missing_input'],
  [{ model: 'm', n: 9, output: 'file' }, 'missing_input'],
  [{ model: 'm', input: '', text: '', prompt: '', lyrics: '', voice_description: '' }, 'missing_input'],
  [{ model: 'm', input: null, voice: 'anna' }, 'missing_input'],
  [{ model: 'm', input: 5 }, 'invalid_parameter'],
  [{ model: 'm', input: 'x' }, 'taken'],
  [{ model: 'm', text: 'x' }, 'taken'],
  [{ model: 'm', prompt: 'x' }, 'taken'],
  [{ model: 'm', lyrics: 'x' }, 'taken'],
  [{ model: 'm', voice_description: 'x' }, 'taken'],
] as const) {
  test(`R-373 R-375 R-402: ${JSON.stringify(body)} is ${code}`, () => {
    assert.equal(
      outcomeOf(() => soundOf(body)),
      code,
    );
  });
}

test('R-374 R-379 R-381 R-382: each synonym is its field', () => {
  const { input, format, bitrate } = soundOf({ model: 'm', text: 'x', format: 'flac', mp3_bitrate: 64 });
  assert.deepEqual([input, format, bitrate], ['x', 'flac', 64]);
  for (const name of ['duration_seconds', 'seconds', 'duration']) {
    assert.equal(soundOf({ ...LEAST, [name]: 3 }).durationSeconds, 3);
    assert.equal(soundOf({ ...LEAST, [name]: 0 }).durationSeconds, undefined);
  }
});

for (const [more, code] of [
  [{ text: LEAST.input }, 'taken'],
  [{ text: 'other' }, 'conflicting_parameters'],
  [{ text: null }, 'taken'],
  [{ response_format: 'mp3', format: 'mp3' }, 'taken'],
  [{ response_format: 'mp3', format: 'wav' }, 'conflicting_parameters'],
  [{ bitrate: 64, mp3_bitrate: 64 }, 'taken'],
  [{ bitrate: 64, mp3_bitrate: 128 }, 'conflicting_parameters'],
  [{ duration_seconds: 3, seconds: 3, duration: 3.0 }, 'taken'],
  [{ duration_seconds: 3, seconds: 4 }, 'conflicting_parameters'],
  [{ duration_seconds: 3, duration: 4 }, 'conflicting_parameters'],
  [{ seconds: 3, duration: 4 }, 'conflicting_parameters'],
  [{ voice: { id: 'v-1' }, reference_id: 'v-1' }, 'taken'],
  [{ voice: { id: 'v-1' }, reference_id: 'v-2' }, 'conflicting_parameters'],
] as const) {
  test(`R-388: ${JSON.stringify(more)} is ${code}`, () => assert.equal(outcome(more), code));
}

for (const character of ['x', 'é', '😀']) {
  test(`R-376 R-377: 40 000 times ${character} in all is taken, once more is too long`, () => {
    const [input, lyrics] = [character.repeat(SPOKEN_CHARS_MAX - 10), character.repeat(10)];
    assert.equal(outcome({ input, lyrics }), 'taken');
    assert.equal(outcome({ input: input + character, lyrics }), 'text_too_long');
    assert.equal(outcome({ input, lyrics: lyrics + character }), 'text_too_long');
    assert.equal(outcome({ input: '', lyrics: character.repeat(SPOKEN_CHARS_MAX + 1) }), 'text_too_long');
  });
}

test('R-377: a prompt does not count as spoken', () => {
  assert.equal(outcome({ prompt: 'x'.repeat(SPOKEN_CHARS_MAX + 1) }), 'taken');
});

for (const name of ['response_format', 'format']) {
  for (const format of ['mp3', 'wav', 'pcm', 'opus', 'flac', 'aac', 'ogg']) {
    test(`R-379: ${name} ${format} is taken`, () => assert.equal(soundOf({ ...LEAST, [name]: format }).format, format));
  }
  for (const format of ['m4a', 'MP3', '', 5]) {
    test(`R-379: ${name} ${JSON.stringify(format)} is refused`, () => {
      assert.equal(outcome({ [name]: format }), 'invalid_response_format');
    });
  }
}

for (const [more, code] of [
  [{ n: 1 }, 'taken'],
  [{ n: 8 }, 'taken'],
  [{ n: 0 }, 'invalid_n'],
  [{ n: 9 }, 'invalid_n'],
  [{ n: 1.5 }, 'invalid_n'],
  [{ n: '2' }, 'invalid_n'],
  [{ duration_seconds: -0.1 }, 'invalid_duration'],
  [{ seconds: -1 }, 'invalid_duration'],
  [{ duration: -1 }, 'invalid_duration'],
  [{ duration: 'long' }, 'invalid_duration'],
  [{ duration: 86_400 }, 'taken'],
  [{ duration: 86_401 }, 'invalid_duration'],
  [{ output: 'binary' }, 'taken'],
  [{ output: 'b64_json' }, 'taken'],
  [{ output: 'url' }, 'taken'],
  [{ output: 'file' }, 'invalid_output'],
  [{ output: 5 }, 'invalid_output'],
  [{ speed: '1' }, 'invalid_parameter'],
  [{ volume: true }, 'invalid_parameter'],
  [{ loudness: [] }, 'invalid_parameter'],
  [{ guidance_scale: 'x' }, 'invalid_parameter'],
  [{ prompt_influence: {} }, 'invalid_parameter'],
  [{ sample_rate: 44_100.5 }, 'invalid_parameter'],
  [{ sample_rate: 0 }, 'invalid_parameter'],
  [{ bitrate: '128k' }, 'invalid_parameter'],
  [{ mp3_bitrate: 1.5 }, 'invalid_parameter'],
  [{ seed: 1.5 }, 'invalid_parameter'],
  [{ instrumental: 'true' }, 'invalid_parameter'],
  [{ loop: 1 }, 'invalid_parameter'],
  [{ auto_generate_text: 'no' }, 'invalid_parameter'],
  [{ language: 5 }, 'invalid_parameter'],
  [{ reference_id: {} }, 'invalid_parameter'],
] as const) {
  test(`R-380 R-381 R-382 R-383 R-384 R-386 R-405: ${JSON.stringify(more)} is ${code}`, () => {
    assert.equal(outcome(more), code);
  });
}

test('R-380: a number that no double holds is refused and not silently changed', () => {
  assert.equal(
    outcomeOf(() => soundOf('{"model":"m","input":"x","speed":1e400}')),
    'invalid_parameter',
  );
});

for (const [given, code] of [
  [[CLIP_URL], 'taken'],
  [[inline(WAV, 'audio/wav')], 'taken'],
  [[inline(MP3, 'AUDIO/MPEG')], 'taken'],
  [Array.from({ length: REFERENCES_MAX }, () => CLIP_URL), 'taken'],
  [Array.from({ length: REFERENCES_MAX + 1 }, () => CLIP_URL), 'invalid_parameter'],
  [CLIP_URL, 'invalid_reference_audio'],
  [[{ url: CLIP_URL }], 'invalid_reference_audio'],
  [[5], 'invalid_reference_audio'],
  [[''], 'invalid_reference_audio'],
  [[MP3.toString('base64')], 'invalid_reference_audio'],
  [['data:audio/mpeg;base64,'], 'invalid_reference_audio'],
  [['ftp://sounds.example/a'], 'unsupported_media_url_scheme'],
  [['https://'], 'invalid_media_url'],
  [['data:audio/mpeg;base64,a!b'], 'invalid_media_url'],
] as const) {
  test(`R-385: reference_audio ${JSON.stringify(given).slice(0, 60)} is ${code}`, () => {
    assert.equal(outcome({ reference_audio: given }), code);
  });
}

for (const type of ['audio/ogg', 'audio/mp3', 'audio/x-wav', 'video/mp4', 'text/plain', '']) {
  test(`R-398: a sample declared as "${type}" is refused, in reference_audio and in voice`, () => {
    assert.equal(outcome({ reference_audio: [inline(MP3, type)] }), 'unsupported_audio_format');
    assert.equal(outcome({ voice: inline(MP3, type) }), 'unsupported_audio_format');
  });
}

test('R-399: a sample of 10 MiB in base64 is taken, one character more is too large, wherever it stands', () => {
  const fitting = Buffer.concat([MP3, Buffer.alloc((VOICE_SAMPLE_BASE64_CHARS_MAX / 4) * 3 - MP3.length)]);
  const base64 = fitting.toString('base64');
  assert.equal(base64.length, VOICE_SAMPLE_BASE64_CHARS_MAX);
  for (const wrap of [
    (text: string) => ({ reference_audio: [`data:audio/mpeg;base64,${text}`] }),
    (text: string) => ({ voice: `data:audio/mpeg;base64,${text}` }),
    (text: string) => ({ voice: text }),
  ]) {
    assert.equal(outcome(wrap(base64)), 'taken');
    assert.equal(outcome(wrap(`${base64}A`)), 'voice_sample_too_large');
  }
});

for (const [name, voice, sample] of [
  ['a data URL', inline(MP3), MP3],
  ['bare base64 of MP3', MP3.toString('base64'), MP3],
  ['bare base64 of MP3 with a tag', TAGGED_MP3.toString('base64'), TAGGED_MP3],
  ['bare base64 of the smallest WAV', WAV.toString('base64'), WAV],
  ['base64 longer than any name, for others to look at', OGG.toString('base64'), OGG],
] as const) {
  test(`R-396: ${name} in voice is a sample and no name`, () => {
    const request = soundOf({ ...LEAST, voice });
    assert.equal(request.voice, undefined);
    assert.deepEqual(request.referenceAudio, [{ from: 'bytes', bytes: sample, field: 'voice' }]);
  });
}

test('R-396: a sample in voice counts beside those in reference_audio', () => {
  const { referenceAudio } = soundOf({ ...LEAST, voice: inline(WAV, 'audio/wav'), reference_audio: [CLIP_URL] });
  assert.deepEqual(referenceAudio, [
    { from: 'url', url: CLIP_URL },
    { from: 'bytes', bytes: WAV, field: 'voice' },
  ]);
});

for (const voice of [
  'anna',
  'nova',
  'SUQz',
  'UklGRg',
  '21m00Tcm4TlvDq8ikWAM',
  'Serious woman',
  'a'.repeat(NAME_CHARS_MAX),
  `${'a '.repeat(NAME_CHARS_MAX)}!`,
]) {
  test(`R-378: the voice ${voice.slice(0, 30)} is a name`, () => {
    const request = soundOf({ ...LEAST, voice });
    assert.deepEqual([request.voice, request.referenceAudio], [voice, []]);
  });
}

for (const [voice, code] of [
  [{ id: 'v-1' }, 'taken'],
  [{ id: '' }, 'invalid_parameter'],
  [{ id: 5 }, 'invalid_parameter'],
  [{}, 'invalid_parameter'],
  [5, 'invalid_parameter'],
  [['anna'], 'invalid_parameter'],
] as const) {
  test(`R-378: the voice ${JSON.stringify(voice)} is ${code}`, () => assert.equal(outcome({ voice }), code));
}

test('an empty voice counts as left out', () => {
  assert.equal(soundOf({ ...LEAST, voice: '' }).voice, undefined);
});

test('R-378: a voice given by its id is the cloned voice of that id', () => {
  const { voice, referenceId } = soundOf({ ...LEAST, voice: { id: 'v-1' } });
  assert.deepEqual([voice, referenceId], [undefined, 'v-1']);
});
