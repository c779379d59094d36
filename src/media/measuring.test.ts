import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { bytes, repeated } from '../../test/support/media-bytes.ts';
import { toneAs } from '../../test/support/media-samples.ts';
import { MEDIA_THREAD_BYTES_MIN } from '../limits.ts';
import { byteSourceOf, Implausible, measure, type Sniffed, Unreadable } from './index.ts';

const MP3: Sniffed = { kind: 'audio', mimeType: 'audio/mpeg', extension: 'mp3' };
const WAV: Sniffed = { kind: 'audio', mimeType: 'audio/wav', extension: 'wav' };
const LARGE = MEDIA_THREAD_BYTES_MIN + 1;

test('what is larger than 1 MiB is measured in a thread, and as it is here', async () => {
  const threads: Worker[] = [];
  const note = (worker: Worker) => threads.push(worker);
  process.on('worker', note);
  const tone = await toneAs('mp3', { seconds: 1, sampleRate: 16_000 });
  const head = bytes('494433 0400 00 00000000');
  const large = (length: number) => {
    const rest = length - head.length - tone.length;
    for (const place of [0, 1, 2, 3]) head[6 + place] = (rest >> (7 * (3 - place))) & 0x7f;
    return measure(byteSourceOf(Buffer.concat([head, Buffer.alloc(rest), tone])), MP3);
  };
  const here = await large(MEDIA_THREAD_BYTES_MIN);
  const before = threads.length;
  const apart = await Promise.all(Array.from({ length: 8 }, () => large(MEDIA_THREAD_BYTES_MIN + 1)));
  process.off('worker', note);
  for (const measured of apart) assert.deepEqual(measured, here);
  assert.deepEqual([before, threads.length], [0, 1]);
});

test('what is wrong with a large file, or with its store, is told as for a small one', async () => {
  await assert.rejects(measure(repeated(bytes('00'), LARGE), MP3), Unreadable);
  const wave = await toneAs('wav', { seconds: 20 });
  wave.writeUInt32LE(1, 24);
  assert.ok(wave.length > LARGE);
  await assert.rejects(measure(byteSourceOf(wave), WAV), Implausible);
  const failure = new Error('the store is away');
  await assert.rejects(measure({ bytes: LARGE, read: () => Promise.reject(failure) }, MP3), failure);
});
