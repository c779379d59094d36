import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MkvOutputFormat, MovOutputFormat, Mp4OutputFormat, WebMOutputFormat } from 'mediabunny';
import { ApiError, UpstreamError } from '../../../src/errors.ts';
import type { SoundRequest } from '../../../src/schemas/index.ts';
import type { AudioFile, Media, Transcript } from '../../../src/vendors/vendor.ts';
import { sandboxUpstream } from '../../../test/support/sandbox-media.ts';
import {
  recording,
  repacked,
  SENTENCE,
  SPEECH,
  samplesOf,
  TRANSCRIPTION,
  wavOf,
  wholeOf,
  wordsOf,
} from '../../../test/support/sandbox-voice.ts';
import { FailureCounts } from './faults.ts';
import { speechWork } from './speech.ts';
import { transcriptionWork } from './transcription.ts';
import { listenerEngine, speakerEngine } from './voice/engines.ts';

const speech = speechWork(new FailureCounts(), speakerEngine());
const work = transcriptionWork(new FailureCounts(), listenerEngine());

async function spoken(asked: Partial<SoundRequest<Media>>): Promise<Buffer> {
  return wholeOf(await speech.speak({ ...SPEECH, ...asked }, sandboxUpstream()));
}

async function transcriptOf(audio: AudioFile): Promise<Transcript> {
  const answer = await work.submit(TRANSCRIPTION, audio, sandboxUpstream());
  assert.ok(answer.state === 'transcribed');
  return answer.transcript;
}

async function samplesAt(sampleRate: number): Promise<Float32Array<ArrayBuffer>> {
  return samplesOf(await spoken({ format: 'pcm', sampleRate }));
}

const RECORDINGS: readonly (readonly [what: string, make: () => Promise<Buffer>])[] = [
  ['WAV', () => spoken({ format: 'wav' })],
  ['WAV of 8 bits', async () => wavOf(await samplesAt(16_000), 16_000, 8)],
  ['WAV of 24 bits, two channels, 44100 Hz', async () => wavOf(await samplesAt(44_100), 44_100, 24, 2)],
  ['WAV of 32 bits, 8000 Hz', async () => wavOf(await samplesAt(8_000), 8_000, 32)],
  ['WAV of floating numbers, six channels, 48000 Hz', async () => wavOf(await samplesAt(48_000), 48_000, 'float', 6)],
  ['MP3', () => spoken({ format: 'mp3' })],
  ['FLAC', () => spoken({ format: 'flac' })],
  ['Ogg with Vorbis', () => spoken({ format: 'ogg' })],
  ['Ogg with Opus', () => spoken({ format: 'opus' })],
  ['WebM with Opus', async () => repacked(await spoken({ format: 'opus' }), new WebMOutputFormat())],
  ['WebM with Vorbis', async () => repacked(await spoken({ format: 'ogg' }), new WebMOutputFormat())],
  ['Matroska with FLAC', async () => repacked(await spoken({ format: 'flac' }), new MkvOutputFormat())],
  ['MP4 with Opus', async () => repacked(await spoken({ format: 'opus' }), new Mp4OutputFormat())],
  ['MP4 with FLAC', async () => repacked(await spoken({ format: 'flac' }), new Mp4OutputFormat())],
  ['MP4 with MP3', async () => repacked(await spoken({ format: 'mp3' }), new Mp4OutputFormat())],
  ['QuickTime with plain samples', async () => repacked(await spoken({ format: 'wav' }), new MovOutputFormat())],
];

for (const [what, make] of RECORDINGS) {
  test(`R-415: what is said in ${what} is written down word for word`, async () => {
    const { text, language } = await transcriptOf(await recording(await make()));
    assert.equal(wordsOf(text), wordsOf(SENTENCE));
    assert.equal(language, 'en');
  });
}

test('R-415: another voice says the same, and is understood', async () => {
  const { text } = await transcriptOf(await recording(await spoken({ voice: 'awb', format: 'wav' })));
  assert.equal(wordsOf(text), wordsOf(SENTENCE));
});

const UNREADABLE: readonly (readonly [what: string, make: () => Promise<Buffer>])[] = [
  ['AAC', () => spoken({ format: 'aac' })],
  ['M4A with AAC', async () => repacked(await spoken({ format: 'aac' }), new Mp4OutputFormat())],
];

function isFault(fault: string) {
  return (error: unknown) => error instanceof UpstreamError && error.fault === fault;
}

for (const [what, make] of UNREADABLE) {
  test(`${what} is refused for what it is, and nothing is made up`, async () => {
    await assert.rejects(transcriptOf(await recording(await make())), isFault('client'));
  });
}

test('what only looks like sound is refused', async () => {
  const flac = await spoken({ format: 'flac' });
  const audio = await recording(flac);
  const broken = Buffer.concat([flac.subarray(0, 200), Buffer.alloc(5_000, 0x55)]);
  const pieces = async function* () {
    yield broken;
  };
  await assert.rejects(transcriptOf({ ...audio, bytes: broken.length, pieces }), isFault('client'));
});

test('R-428: silence and noise say nothing', async () => {
  const silence = wavOf(new Float32Array(48_000), 16_000, 16);
  const noise = wavOf(
    Float32Array.from({ length: 48_000 }, (_, at) => Math.sin(at * at) * 0.05),
    16_000,
    16,
  );
  for (const wav of [silence, noise]) {
    const { text, segments, words } = await transcriptOf(await recording(wav));
    assert.deepEqual({ text, segments, words }, { text: '', segments: [], words: [] });
  }
});

test('R-421: sentences and words have their times, in order and within the recording', async () => {
  const one = await samplesAt(16_000);
  const pause = new Float32Array(5 * 16_000);
  const samples = new Float32Array(pause.length + 2 * (one.length + pause.length));
  samples.set(one, pause.length);
  samples.set(one, 2 * pause.length + one.length);
  const {
    text,
    segments = [],
    words = [],
    seconds,
    hasEstimatedTimes,
  } = await transcriptOf(await recording(wavOf(samples, 16_000, 16)));
  assert.equal(wordsOf(text), wordsOf(`${SENTENCE} ${SENTENCE}`));
  assert.equal(seconds, samples.length / 16_000);
  assert.equal(hasEstimatedTimes, true);
  assert.equal(segments.length, 2);
  const begins = [pause.length, 2 * pause.length + one.length].map((at) => at / 16_000);
  for (const [index, { start, end }] of segments.entries()) {
    assert.ok(Math.abs(start - (begins[index] ?? 0)) < 0.3, `${start}`);
    assert.ok(Math.abs(end - start - one.length / 16_000) < 0.6, `${end}`);
  }
  assert.equal(words.length, 18);
  let last = 0;
  for (const { word, start, end } of words) {
    assert.ok(word.length > 0 && start >= last && end > start, word);
    last = end;
  }
  assert.equal(last, segments.at(-1)?.end);
});

test('a recording of half an hour is taken, one that is longer is not', async () => {
  const audio = await recording(await spoken({ format: 'wav' }));
  assert.equal((await transcriptOf({ ...audio, seconds: 1_800 })).seconds, 1_800);
  await assert.rejects(transcriptOf({ ...audio, seconds: 1_800.001 }), isFault('client'));
});

test('R-412: English is understood, however it is called, and another language is refused', () => {
  for (const language of ['en', 'EN', 'en-US', 'english', undefined]) work.check({ ...TRANSCRIPTION, language }, '');
  const isNamed = (error: unknown) =>
    error instanceof ApiError && error.code === 'unsupported_parameter' && error.message.includes('"language"');
  for (const language of ['de', 'enm', 'zh']) {
    assert.throws(() => work.check({ ...TRANSCRIPTION, language }, ''), isNamed);
  }
});

test('a caller who leaves is let go, waiting or not, and makes room for the next', async () => {
  const audio = await recording(await spoken({ format: 'wav' }));
  const controller = new AbortController();
  const upstream = { ...sandboxUpstream(), signal: controller.signal };
  const left = Array.from({ length: 5 }, () => work.submit(TRANSCRIPTION, audio, upstream));
  const stays = transcriptOf(audio);
  controller.abort(new Error('left'));
  for (const result of await Promise.allSettled(left)) {
    assert.ok(result.status === 'rejected' && result.reason === controller.signal.reason);
  }
  assert.equal(wordsOf((await stays).text), wordsOf(SENTENCE));
});

test('it fails as it is asked to, before anything is read', async () => {
  const audio = await recording(await spoken({ format: 'wav' }));
  const unread: AudioFile = { ...audio, pieces: () => assert.fail('read') };
  const submit = (sandbox: object) =>
    work.submit({ ...TRANSCRIPTION, extra: { sandbox: { ...sandbox } } }, unread, sandboxUpstream());
  await assert.rejects(submit({ fail: 'busy' }), isFault('rate'));
  await assert.rejects(submit({ fail: 'timeout' }), isFault('timeout'));
  await assert.rejects(submit({ fail: 'garbled' }), isFault('garbled'));
  await assert.rejects(submit({ fail_times: 1 }), isFault('server'));
  assert.throws(() => work.check({ ...TRANSCRIPTION, extra: { sandbox: { fail: 'oddly' } } }, ''), ApiError);
});
