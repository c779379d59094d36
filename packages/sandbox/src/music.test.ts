import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { ApiError } from '../../../src/errors.ts';
import type { SoundRequest } from '../../../src/schemas/index.ts';
import type { Media } from '../../../src/vendors/vendor.ts';
import { bytesOf, MUSIC, made, medium, order } from '../../../test/support/sandbox-media.ts';
import { FailureCounts } from './faults.ts';
import { musicKind } from './music.ts';
import { compose } from './studio/composer.ts';
import type { MusicPiece } from './studio/piece.ts';
import { Studio } from './studio/studio.ts';
import { taskWork } from './tasks.ts';

const work = taskWork(musicKind, new FailureCounts(), new Studio());

type Asked = Partial<SoundRequest<Media>>;

async function clipsOf(asked: Asked, count = 1): Promise<Buffer[]> {
  return bytesOf(await made(work, { ...MUSIC, ...asked }, count));
}

async function clipOf(asked: Asked): Promise<Buffer> {
  const [clip] = await clipsOf(asked);
  assert.ok(clip);
  return clip;
}

async function pieceOf(asked: Asked): Promise<MusicPiece> {
  const piece = await musicKind.plan({ ...MUSIC, ...asked }, order('plan'));
  assert.ok(piece.kind === 'music');
  return piece;
}

async function notesOf(asked: Asked) {
  return compose(await pieceOf(asked), 0);
}

/** Samples of `pcm`, from -1 to 1. */
async function samplesOf(asked: Asked): Promise<Float64Array> {
  const bytes = await clipOf({ ...asked, format: 'pcm' });
  return Float64Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(at * 2) / 32_768);
}

function loudest(samples: Float64Array): number {
  return samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
}

// The seconds beyond what was asked are what the codec's blocks and its run-up take.
const FORMATS: readonly (readonly [asked: Asked, type: string, codec: string, rate: number, beyond: number])[] = [
  [{}, 'audio/mpeg', 'mp3', 44_100, 0.06],
  [{ format: 'mp3', sampleRate: 8_000 }, 'audio/mpeg', 'mp3', 8_000, 0.25],
  [{ format: 'wav' }, 'audio/wav', 'pcm-s16', 44_100, 0],
  [{ format: 'flac' }, 'audio/flac', 'flac', 44_100, 0],
  [{ format: 'flac', sampleRate: 16_000 }, 'audio/flac', 'flac', 16_000, 0],
  [{ format: 'aac' }, 'audio/aac', 'aac', 44_100, 0.07],
  [{ format: 'aac', sampleRate: 16_000 }, 'audio/aac', 'aac', 16_000, 0.2],
  [{ format: 'ogg' }, 'audio/ogg', 'vorbis', 44_100, 0],
  [{ format: 'ogg', sampleRate: 8_000 }, 'audio/ogg', 'vorbis', 8_000, 0.01],
  [{ format: 'opus' }, 'audio/ogg', 'opus', 48_000, 0.007],
  [{ format: 'opus', sampleRate: 24_000 }, 'audio/ogg', 'opus', 48_000, 0.007],
];

for (const [asked, type, codec, rate, beyond] of FORMATS) {
  test(`R-379 R-381: ${JSON.stringify(asked)} is ${type} with ${codec}, as long as asked`, async () => {
    const clip = await clipOf({ durationSeconds: 1.25, ...asked });
    const input = new Input({ source: new BufferSource(clip), formats: ALL_FORMATS });
    const track = await input.getPrimaryAudioTrack();
    assert.ok(track);
    assert.equal((await input.getMimeType()).split(';')[0], type);
    assert.deepEqual(
      [await track.getCodec(), await track.getSampleRate(), await track.getNumberOfChannels()],
      [codec, rate, 2],
    );
    const length = await input.computeDuration();
    assert.ok(length >= 1.2499 && length <= 1.25 + beyond + 0.0001, `${length}`);
  });
}

test('R-379: pcm is sixteen bits of one channel, at 24 kHz unless asked otherwise', async () => {
  assert.equal((await clipOf({ format: 'pcm', durationSeconds: 1.5 })).length, 1.5 * 24_000 * 2);
  assert.equal((await clipOf({ format: 'pcm', durationSeconds: 1.5, sampleRate: 8_000 })).length, 1.5 * 8_000 * 2);
});

test('R-381: a bitrate may be told in bits or in thousands, and decides the size', async () => {
  const [bits, thousands] = [await pieceOf({ bitrate: 64_000 }), await pieceOf({ bitrate: 64 })];
  assert.deepEqual(bits, thousands);
  const [small, large] = [await clipOf({ bitrate: 64 }), await clipOf({ bitrate: 256_000 })];
  assert.ok(Math.abs(large.length / small.length - 4) < 0.1);
});

const REFUSED: readonly (readonly [asked: Asked, field: string, allowed: Asked])[] = [
  [{ durationSeconds: 60.1 }, 'duration_seconds', { durationSeconds: 60 }],
  [{ durationSeconds: 0.49 }, 'duration_seconds', { durationSeconds: 0.5 }],
  [{ sampleRate: 44_101 }, 'sample_rate', { sampleRate: 44_100 }],
  [{ format: 'opus', sampleRate: 44_100 }, 'sample_rate', { format: 'opus', sampleRate: 48_000 }],
  [{ bitrate: 321 }, 'bitrate', { bitrate: 320 }],
  [{ bitrate: 80, sampleRate: 12_000 }, 'bitrate', { bitrate: 64, sampleRate: 12_000 }],
  [{ bitrate: 192, sampleRate: 24_000 }, 'bitrate', { bitrate: 160, sampleRate: 24_000 }],
  [{ format: 'opus', bitrate: 511 }, 'bitrate', { format: 'opus', bitrate: 510 }],
  [{ format: 'aac', bitrate: 15 }, 'bitrate', { format: 'aac', bitrate: 16 }],
  [{ format: 'flac', bitrate: 128 }, 'bitrate', { format: 'flac' }],
  [{ speed: 4.01 }, 'speed', { speed: 4 }],
  [{ speed: 0.24 }, 'speed', { speed: 0.25 }],
  [{ volume: 2.01 }, 'volume', { volume: 2 }],
  [{ volume: -0.1 }, 'volume', { volume: 0 }],
  [{ loudness: 0 }, 'loudness', {}],
  [{ guidanceScale: 1 }, 'guidance_scale', {}],
  [{ promptInfluence: 0.5 }, 'prompt_influence', {}],
  [{ referenceAudio: [medium(Buffer.from('audio'), 'audio/wav')] }, 'reference_audio', {}],
];

for (const [asked, field, allowed] of REFUSED) {
  test(`R-370: ${JSON.stringify(asked)} is refused by its field`, () => {
    const isNamed = (error: unknown) =>
      error instanceof ApiError && error.code === 'unsupported_parameter' && error.message.includes(`"${field}"`);
    assert.throws(() => work.check({ ...MUSIC, ...asked }, 'music'), isNamed);
    work.check({ ...MUSIC, ...allowed }, 'music');
  });
}

test('a piece without a length lasts ten seconds', async () => {
  assert.equal((await pieceOf({ durationSeconds: undefined })).seconds, 10);
  assert.equal((await pieceOf({ durationSeconds: 0 })).seconds, 10);
});

test('R-406: eight clips of one call are eight different ones, and none is silent or too loud', async () => {
  assert.equal(work.perCall({ ...MUSIC, n: 8 }, 'music'), 8);
  const clips = await clipsOf({ n: 8, format: 'pcm', durationSeconds: 1 }, 8);
  assert.equal(new Set(clips.map((clip) => clip.toString('base64'))).size, 8);
  for (const clip of clips) {
    const peak = Math.max(...Array.from({ length: clip.length / 2 }, (_, at) => Math.abs(clip.readInt16LE(at * 2))));
    assert.ok(peak > 3_000 && peak < 32_767, `${peak}`);
  }
});

const SCALES: readonly (readonly [prompt: string, tones: readonly number[]])[] = [
  ['a song in d minor', [2, 4, 5, 7, 9, 10, 0]],
  ['f sharp major, fast', [6, 8, 10, 11, 1, 3, 5]],
  ['slow waltz in C major', [0, 2, 4, 5, 7, 9, 11]],
];

for (const [prompt, tones] of SCALES) {
  test(`“${prompt}” stays in its key`, async () => {
    const pitched = (await notesOf({ prompt, durationSeconds: 30 })).filter(
      ({ instrument }) => !['kick', 'snare', 'hat'].includes(instrument),
    );
    assert.ok(pitched.length > 20);
    for (const { key } of pitched) assert.ok(tones.includes(((key % 12) + 12) % 12), `${key}`);
  });
}

test('the words decide the tempo, the metre, the instrument and the drums', async () => {
  const beatsOf = async (asked: Asked) => {
    const notes = await notesOf({ durationSeconds: 30, ...asked });
    return notes.filter(({ instrument }) => instrument === 'kick' || instrument === 'snare').length;
  };
  assert.equal(await beatsOf({ prompt: '120 bpm' }), 60);
  assert.equal(await beatsOf({ prompt: '120 bpm', speed: 2 }), 120);
  assert.equal(await beatsOf({ prompt: '120 bpm without drums' }), 0);
  assert.equal(await beatsOf({ prompt: 'a calm lullaby' }), 0);
  const waltz = await notesOf({ prompt: 'waltz, 120 bpm', durationSeconds: 30 });
  assert.equal(waltz.filter(({ instrument }) => instrument === 'kick').length, 20);
  assert.ok((await notesOf({ prompt: 'solo for flute' })).some(({ instrument }) => instrument === 'flute'));
});

test('it is made of chords, a bass and a tune, and the bars fill it exactly', async () => {
  const notes = await notesOf({ prompt: 'an organ piece', durationSeconds: 7.3 });
  for (const part of ['strings', 'bass', 'organ']) assert.ok(notes.some(({ instrument }) => instrument === part));
  const chords = notes.filter(({ instrument }) => instrument === 'strings');
  const ends = chords.map(({ start, seconds }) => start + seconds);
  assert.ok(Math.abs(Math.max(...ends) - 7.3) < 1e-9);
  assert.equal(chords.filter(({ start }) => start === 0).length, 3);
});

test('R-384: lyrics are sung, a note for each syllable, unless it is to be instrumental', async () => {
  const lyrics = 'The river runs to the sea\nover the hills';
  const sung = async (asked: Asked) =>
    (await notesOf({ durationSeconds: 30, ...asked })).filter(({ instrument }) => instrument === 'voice').length;
  assert.equal(await sung({ lyrics }), 7 + 4);
  assert.equal(await sung({ lyrics, instrumental: true }), 0);
  assert.equal(await sung({}), 0);
  assert.equal(await sung({ prompt: 'a day at sea', autoGenerateText: true }), 4);
  assert.ok((await sung({ lyrics: lyrics.repeat(500), durationSeconds: 5 })) > 4);
});

test('who sings can be heard', async () => {
  const lyrics = 'la la la la';
  assert.notDeepEqual(await samplesOf({ lyrics, voice: 'anna' }), await samplesOf({ lyrics, voice: 'boris' }));
});

test('R-384: a loop ends where it begins; everything else ends in silence', async () => {
  const asked = { prompt: 'organ and strings', durationSeconds: 4 };
  const [loop, plain] = [await samplesOf({ ...asked, loop: true }), await samplesOf(asked)];
  const steps = loop.slice(1).map((sample, at) => Math.abs(sample - (loop[at] ?? 0)));
  assert.ok(Math.abs((loop.at(-1) ?? 0) - (loop[0] ?? 0)) <= loudest(steps));
  assert.ok(loudest(loop.slice(-2_400)) > 0.02);
  assert.ok(loudest(plain.slice(-24)) < 0.002);
});

test('the volume is heard, and never too loud for the format', async () => {
  assert.equal(loudest(await samplesOf({ volume: 0 })), 0);
  const [quiet, usual, loud] = await Promise.all(
    [0.25, 1, 2].map(async (volume) => loudest(await samplesOf({ volume }))),
  );
  assert.ok(quiet && usual && loud && quiet < usual && usual < loud && loud < 1);
});
