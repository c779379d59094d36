// Small real files of every kind that is taken, and what a seed makes of them: cut, lying about sizes, looped, mixed.

import type { Random } from '../../packages/verify/src/random.ts';
import { clip, picture, toneAs } from '../support/media-samples.ts';

export interface Sample {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Buffer;
}

const SECONDS = 0.3;
const SIDE = { width: 16, height: 16 };
const LIES = [0, 1, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];
const GIF = Buffer.from(
  '47494638396102000200f00000ff000000000021f904000a0000002c00000000020002000002028451003b',
  'hex',
);

/** Made by real encoders. */
export async function makeSamples(): Promise<readonly Sample[]> {
  const made = async (name: string, mimeType: string, bytes: Promise<Buffer> | Buffer): Promise<Sample> => ({
    name,
    mimeType,
    bytes: await bytes,
  });
  return [
    await made('a.png', 'image/png', picture('png', SIDE)),
    await made('a.jpg', 'image/jpeg', picture('jpeg', SIDE)),
    await made('a.webp', 'image/webp', picture('webp', SIDE)),
    await made('b.webp', 'image/webp', picture('webp-lossless', SIDE)),
    await made('a.gif', 'image/gif', GIF),
    await made('a.wav', 'audio/wav', toneAs('wav', { seconds: SECONDS, sampleRate: 8_000 })),
    await made('a.mp3', 'audio/mpeg', toneAs('mp3', { seconds: SECONDS })),
    await made('a.ogg', 'audio/ogg', toneAs('ogg-opus', { seconds: SECONDS })),
    await made('b.ogg', 'audio/ogg', toneAs('ogg-vorbis', { seconds: SECONDS })),
    await made('a.flac', 'audio/flac', toneAs('flac', { seconds: SECONDS })),
    await made('a.m4a', 'audio/mp4', toneAs('m4a', { seconds: SECONDS })),
    await made('b.m4a', 'audio/mp4', toneAs('m4a-fragmented', { seconds: SECONDS })),
    await made('a.webm', 'audio/webm', toneAs('webm', { seconds: SECONDS })),
    await made('b.webm', 'video/webm', clip({ seconds: SECONDS, container: 'webm-live' })),
    await made('a.mp4', 'video/mp4', clip({ seconds: SECONDS, sound: true })),
    await made('b.mp4', 'video/mp4', clip({ seconds: SECONDS, container: 'mp4-fragmented' })),
    await made('a.mov', 'video/quicktime', clip({ seconds: SECONDS, container: 'mov' })),
    await made('a.aac', 'audio/aac', toneAs('aac', { seconds: SECONDS })),
  ];
}

/** Of one kind of media, as the first part of its type names it, or nearly always so. */
export function samplesOf(
  kind: 'image' | 'audio' | 'video',
  samples: readonly Sample[],
  random: Random,
): readonly Sample[] {
  return random.chance(0.9) ? samples.filter(({ mimeType }) => mimeType.startsWith(kind)) : samples;
}

/** One of them, mostly changed in a few places. */
export function spoiledSample(samples: readonly Sample[], random: Random, wholeShare = 0.15): Sample {
  const { name, mimeType, bytes } = random.pick(samples);
  if (random.chance(wholeShare)) return { name, mimeType, bytes };
  let spoiled = Buffer.from(bytes);
  for (let change = random.whole(1, 4); change > 0; change--) spoiled = spoilBytes(spoiled, samples, random);
  return { name, mimeType: random.chance(0.1) ? random.pick(samples).mimeType : mimeType, bytes: spoiled };
}

function spoilBytes(bytes: Buffer, samples: readonly Sample[], random: Random): Buffer<ArrayBuffer> {
  const at = random.whole(0, Math.max(0, bytes.length - 1));
  // Headers are at the beginning, and indexes sometimes at the end.
  const place = random.chance(0.6) ? Math.min(at, random.whole(0, 200)) : at;
  const to = Math.min(bytes.length, place + random.whole(1, 64));
  const changed = Buffer.from(bytes);
  switch (random.weighted({ cut: 2, flip: 3, lie: 6, loop: 2, insert: 1, drop: 2, mix: 1, zero: 1, many: 0.1 })) {
    case 'cut':
      return changed.subarray(0, at);
    case 'flip':
      for (let flips = random.whole(1, 8); flips > 0 && bytes.length > 0; flips--) {
        const bit = random.whole(0, bytes.length - 1);
        changed[bit] = (changed[bit] ?? 0) ^ (1 << random.whole(0, 7));
      }
      return changed;
    case 'lie':
      return lied(changed, place, random);
    case 'loop':
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(place)]);
    case 'insert':
      return Buffer.concat([
        bytes.subarray(0, place),
        Buffer.alloc(random.whole(1, 64), random.whole(0, 255)),
        bytes.subarray(place),
      ]);
    case 'drop':
      return Buffer.concat([bytes.subarray(0, place), bytes.subarray(to)]);
    case 'mix':
      return Buffer.concat([bytes.subarray(0, place), random.pick(samples).bytes.subarray(place)]);
    case 'zero':
      return changed.fill(0, place, to);
    case 'many':
      return Buffer.concat([bytes.subarray(0, to), ...Array(5_000).fill(bytes.subarray(place, to))]);
  }
}

/** A number of one to eight bytes, of either order, that says something else. */
function lied(bytes: Buffer<ArrayBuffer>, place: number, random: Random): Buffer<ArrayBuffer> {
  const lie = random.pick(LIES);
  const number = Buffer.alloc(8);
  const width = random.pick([1, 2, 4, 4, 4, 8]);
  if (random.chance(0.6)) number.writeBigUInt64BE(BigInt.asUintN(64, BigInt(lie) << BigInt(8 * (8 - width))));
  else number.writeBigUInt64LE(BigInt(lie));
  number.copy(bytes, place, 0, Math.min(width, bytes.length - place));
  return bytes;
}
