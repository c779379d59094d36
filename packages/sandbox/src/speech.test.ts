import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, UpstreamError } from '../../../src/errors.ts';
import type { SoundRequest } from '../../../src/schemas/index.ts';
import type { Media } from '../../../src/vendors/vendor.ts';
import { medium, sandboxUpstream } from '../../../test/support/sandbox-media.ts';
import { lookedAt, SENTENCE, SPEECH, samplesOf, wholeOf } from '../../../test/support/sandbox-voice.ts';
import { FailureCounts } from './faults.ts';
import { speechWork } from './speech.ts';
import { speakerEngine } from './voice/engines.ts';

const work = speechWork(new FailureCounts(), speakerEngine());

type Asked = Partial<SoundRequest<Media>>;

async function spoken(asked: Asked): Promise<Buffer> {
  const request = { ...SPEECH, ...asked };
  work.check(request, 'speech');
  return wholeOf(await work.speak(request, sandboxUpstream()));
}

/** How long it is said, in seconds. */
async function lengthOf(asked: Asked): Promise<number> {
  return (await spoken({ ...asked, format: 'pcm' })).length / 2 / (asked.sampleRate ?? 24_000);
}

/** How often in a second the sound crosses zero upwards: the higher the voice, the more often. */
function crossings(pcm: Buffer): number {
  const samples = samplesOf(pcm);
  const ups = samples.filter((sample, at) => sample > 0 && (samples[at - 1] ?? 0) <= 0).length;
  return (ups * 24_000) / samples.length;
}

const FORMATS: readonly (readonly [format: NonNullable<Asked['format']>, type: string, beyond: number])[] = [
  ['mp3', 'audio/mpeg', 0.12],
  ['wav', 'audio/wav', 0],
  ['opus', 'audio/ogg', 0],
  ['flac', 'audio/flac', 0],
  ['aac', 'audio/aac', 0.15],
  ['ogg', 'audio/ogg', 0],
];

for (const [format, type, beyond] of FORMATS) {
  test(`R-379: ${format} is ${type}, as long as what is said`, async () => {
    const length = await lengthOf({});
    const { mimeType, seconds } = await lookedAt(await spoken({ format }));
    assert.equal(mimeType, type);
    assert.ok(seconds > length - 0.001 && seconds < length + beyond + 0.001, `${seconds} for ${length}`);
  });
}

test('R-379: bare samples are told by their rate', async () => {
  for (const sampleRate of [undefined, 8_000, 48_000]) {
    const { samples } = await work.speak({ ...SPEECH, format: 'pcm', sampleRate }, sandboxUpstream());
    assert.deepEqual(samples, { rate: sampleRate ?? 24_000, channels: 1 });
  }
  const { samples, characters } = await work.speak({ ...SPEECH, format: 'mp3' }, sandboxUpstream());
  assert.equal(samples, undefined);
  assert.equal(characters, SENTENCE.length);
});

for (const sampleRate of [8_000, 11_025, 22_050, 48_000]) {
  test(`R-381: at ${sampleRate} Hz it is as long, and its header says so`, async () => {
    const wav = await spoken({ format: 'wav', sampleRate });
    assert.equal(wav.readUInt32LE(24), sampleRate);
    assert.ok(Math.abs((await lookedAt(wav)).seconds - (await lengthOf({}))) < 0.001);
  });
}

test('R-380: twice the speed is half the length, and half the speed is twice', async () => {
  const length = await lengthOf({});
  for (const speed of [0.25, 0.5, 2]) {
    const ratio = length / (await lengthOf({ speed })) / speed;
    assert.ok(Math.abs(ratio - 1) < 0.05, `${speed}: ${ratio}`);
  }
});

test('R-380: the volume is heard, and 0 is silence', async () => {
  const loudest = async (volume: number) =>
    samplesOf(await spoken({ format: 'pcm', volume })).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const usual = await loudest(1);
  assert.equal(await loudest(0), 0);
  assert.ok(Math.abs((await loudest(0.5)) / usual - 0.5) < 0.01);
});

test('R-378: every voice sounds another way, and the usual names are known in any case', async () => {
  const own = await Promise.all(['kal', 'kal16', 'awb', 'rms', 'slt'].map((voice) => spoken({ voice, format: 'pcm' })));
  assert.equal(new Set(own.map((pcm) => pcm.toString('base64'))).size, 5);
  const names = 'alloy ash ballad coral echo fable onyx nova sage shimmer verse marin cedar'.split(' ');
  for (const voice of names) work.check({ ...SPEECH, voice }, 'speech');
  assert.deepEqual(
    await spoken({ voice: 'Coral', format: 'pcm' }),
    await spoken({ referenceId: 'slt', format: 'pcm' }),
  );
  assert.deepEqual(await spoken({ format: 'pcm' }), await spoken({ voice: 'rms', format: 'pcm' }));
});

const TEXTS: readonly (readonly [asked: Asked, same: string])[] = [
  [{ input: undefined, prompt: 'good day' }, 'good day'],
  [{ input: undefined, lyrics: 'good day' }, 'good day'],
  [{ input: 'good', lyrics: 'day' }, 'good\nday'],
  [{ input: 'good day', prompt: 'happily' }, 'good day'],
  [{ input: 'Cáfé – “it’s”…' }, 'Cafe, "it\'s"...'],
  [{ input: 'good day 日本' }, 'good day'],
];

for (const [asked, input] of TEXTS) {
  test(`R-374 R-378: ${JSON.stringify(asked)} says ${JSON.stringify(input)}`, async () => {
    assert.deepEqual(await spoken({ ...asked, format: 'pcm' }), await spoken({ input, format: 'pcm' }));
  });
}

const REFUSED: readonly (readonly [asked: Asked, field: string, allowed: Asked])[] = [
  [{ voice: 'nobody' }, 'voice', { voice: 'kal' }],
  [{ referenceId: 'nobody' }, 'reference_id', { referenceId: 'slt-p50-s200' }],
  [{ referenceId: 'slt-p49-s100' }, 'reference_id', { referenceId: 'slt-p200-s50' }],
  [{ referenceId: 'slt-p100-s201' }, 'reference_id', { referenceId: 'kal16-p100-s100' }],
  [{ language: 'de' }, 'language', { language: 'en' }],
  [{ language: 'enx' }, 'language', { language: 'en-GB' }],
  [{ speed: 0.24 }, 'speed', { speed: 0.25 }],
  [{ speed: 4.01 }, 'speed', { speed: 4 }],
  [{ volume: 2.01 }, 'volume', { volume: 2 }],
  [{ sampleRate: 24_001 }, 'sample_rate', { sampleRate: 24_000 }],
  [{ format: 'opus', sampleRate: 44_100 }, 'sample_rate', { format: 'opus', sampleRate: 48_000 }],
  [{ bitrate: 192 }, 'bitrate', { bitrate: 160 }],
  [{ format: 'wav', bitrate: 64 }, 'bitrate', { format: 'wav' }],
  [{ input: '日本語 …' }, 'input', { input: '日本語 7' }],
  [{ voiceDescription: 'an old man' }, 'voice_description', { voiceDescription: 'an old man', voice: 'awb' }],
  [{ input: undefined, prompt: 'a'.repeat(40_001) }, 'prompt', { input: undefined, prompt: 'a'.repeat(40_000) }],
  [{ loudness: 0 }, 'loudness', {}],
  [{ guidanceScale: 1 }, 'guidance_scale', {}],
  [{ promptInfluence: 1 }, 'prompt_influence', {}],
  [{ durationSeconds: 3 }, 'duration_seconds', {}],
  [{ instrumental: true }, 'instrumental', { instrumental: false }],
  [{ loop: true }, 'loop', { loop: false }],
  [{ autoGenerateText: true }, 'auto_generate_text', { autoGenerateText: false }],
  [{ referenceAudio: [medium(Buffer.from('audio'), 'audio/wav')] }, 'reference_audio', {}],
];

function isRefused(field: string) {
  return (error: unknown) =>
    error instanceof ApiError && error.code === 'unsupported_parameter' && error.message.includes(`"${field}"`);
}

for (const [asked, field, allowed] of REFUSED) {
  test(`R-370: ${JSON.stringify(asked).slice(0, 80)} is refused by its field`, () => {
    assert.throws(() => work.check({ ...SPEECH, ...asked }, 'speech'), isRefused(field));
    work.check({ ...SPEECH, ...allowed }, 'speech');
  });
}

const LONG = `${SENTENCE} `.repeat(110);

for (const format of ['wav', 'flac', 'mp3'] as const) {
  test(`R-376: a long text comes as ${format} while it is said, and is as long as told`, async () => {
    const { pieces } = await work.speak(
      { ...SPEECH, input: LONG, voice: 'kal', format, sampleRate: 8_000 },
      sandboxUpstream(),
    );
    const parts: Buffer[] = [];
    for await (const piece of pieces) parts.push(piece);
    const { seconds } = await lookedAt(Buffer.concat(parts));
    const length = 110 * (await lengthOf({ voice: 'kal' }));
    assert.ok(parts.length > 10 && Math.abs(seconds / length - 1) < 0.1, `${parts.length}, ${seconds} for ${length}`);
  });
}

test('a long text is let go when its reader leaves, and others are heard meanwhile', async () => {
  const { pieces } = await work.speak({ ...SPEECH, input: LONG.repeat(7), format: 'pcm' }, sandboxUpstream());
  for await (const piece of pieces) {
    assert.ok(piece.length > 0);
    assert.ok((await spoken({})).length > 0);
    break;
  }
  const controller = new AbortController();
  const upstream = { ...sandboxUpstream(), signal: controller.signal };
  const other = await work.speak({ ...SPEECH, input: LONG.repeat(7), format: 'pcm' }, upstream);
  await assert.rejects(async () => {
    for await (const _ of other.pieces) controller.abort(new Error('left'));
  }, /left/);
});

test('R-393 R-394: three voices are proposed, each another, and their ids speak as the previews do', async () => {
  const request: SoundRequest<Media> = {
    ...SPEECH,
    input: undefined,
    voiceDescription: 'a deep old man',
    format: 'pcm',
  };
  work.check(request, 'voice-design');
  const previews = (await work.design?.(request, sandboxUpstream())) ?? [];
  assert.equal(previews.length, 3);
  assert.equal(new Set(previews.map(({ voiceId }) => voiceId)).size, 3);
  assert.equal(new Set(previews.map(({ audio }) => audio.toString('base64'))).size, 3);
  const input = 'This is how the voice sounds. It reads a sentence or two, so that you can choose.';
  for (const { voiceId, name, description, audio } of previews) {
    assert.ok(name && description);
    assert.deepEqual(await spoken({ referenceId: voiceId, input, format: 'pcm' }), audio);
  }
});

test('R-393: what is described is heard', async () => {
  const first = async (voiceDescription: string) => {
    const [preview] = (await work.design?.({ ...SPEECH, voiceDescription, format: 'pcm' }, sandboxUpstream())) ?? [];
    assert.ok(preview);
    return preview;
  };
  const [deep, child] = [await first('a deep slow giant of a man'), await first('a small girl, lively')];
  assert.ok(crossings(child.audio) > crossings(deep.audio));
  assert.ok(child.audio.length < deep.audio.length);
  assert.match(child.voiceId, /^slt-/);
});

test('a preview says at most a thousand characters', () => {
  const described = { ...SPEECH, voiceDescription: 'calm' };
  work.check({ ...described, input: 'a'.repeat(1_000) }, 'voice-design');
  assert.throws(() => work.check({ ...described, input: 'a'.repeat(1_001) }, 'voice-design'), isRefused('input'));
});

function isFault(fault: string) {
  return (error: unknown) => error instanceof UpstreamError && error.fault === fault;
}

test('it fails as it is asked to: at once, a few times, or behind some pieces', async () => {
  const speak = (sandbox: object) =>
    work.speak({ ...SPEECH, input: LONG, format: 'pcm', extra: { sandbox: { ...sandbox } } }, sandboxUpstream());
  await assert.rejects(() => speak({ fail: 'busy' }), isFault('rate'));
  await assert.rejects(() => speak({ fail: 'policy', fail_times: 1 }), isFault('policy'));
  const { pieces } = await speak({ fail: 'down', fail_after_frames: 2 });
  const taken: Buffer[] = [];
  await assert.rejects(async () => {
    for await (const piece of pieces) taken.push(piece);
  }, isFault('server'));
  assert.equal(taken.length, 2);
  assert.equal((await wholeOf(await speak({ fail_after_frames: 0 }))).length, 0);
  assert.throws(() => work.check({ ...SPEECH, extra: { sandbox: { fail: 'oddly' } } }, 'speech'), ApiError);
});

test('R-396: a sample decides the voice: the same one speaks the same, another one otherwise', async () => {
  const cloned = async (sample: string) => {
    const request = { ...SPEECH, format: 'pcm' as const, referenceAudio: [medium(Buffer.from(sample), 'audio/wav')] };
    work.check(request, 'voice-clone');
    return wholeOf(await work.speak(request, sandboxUpstream()));
  };
  const [first, again, other] = [await cloned('one'), await cloned('one'), await cloned('another')];
  assert.ok(first.length > 0 && first.equals(again));
  assert.ok(!first.equals(other));
});
