import { z } from 'zod';

/** A picture of the request, small, as base64. */
const picture = z.string();
const pixels = z.int().min(1);

const image = z.object({
  kind: z.literal('image'),
  prompt: z.string(),
  unwanted: z.string(),
  style: z.string(),
  quality: z.enum(['low', 'medium', 'high']),
  width: pixels,
  height: pixels,
  format: z.enum(['png', 'jpeg', 'webp']),
  /** Of the first picture; each further one has the next. */
  seed: z.number(),
  count: z.int(),
  isTransparent: z.boolean(),
  hasMark: z.boolean(),
  references: z.array(picture),
  /** White where the first reference is to change; it has the shape of that reference. */
  mask: picture.nullable(),
});

const video = z.object({
  kind: z.literal('video'),
  prompt: z.string(),
  unwanted: z.string(),
  width: pixels,
  height: pixels,
  frames: z.int().min(1),
  fps: z.int().min(1),
  seed: z.number(),
  isCameraFixed: z.boolean(),
  hasMark: z.boolean(),
  hasSound: z.boolean(),
  firstFrame: picture.nullable(),
  lastFrame: picture.nullable(),
  references: z.array(picture),
  /** Clips and sounds that came with the request, in words. */
  notes: z.array(z.string()),
});

const music = z.object({
  kind: z.literal('music'),
  /** Everything that says how it shall sound. */
  words: z.string(),
  lyrics: z.string(),
  /** Who sings, in whatever words; another voice for other words. */
  singer: z.string(),
  seconds: z.number(),
  seed: z.number(),
  count: z.int(),
  isLoop: z.boolean(),
  speed: z.number(),
  volume: z.number(),
  format: z.enum(['mp3', 'wav', 'pcm', 'opus', 'flac', 'aac', 'ogg']),
  sampleRate: z.int(),
  channels: z.union([z.literal(1), z.literal(2)]),
  /** Bits per second; null where the format has none to choose. */
  bitrate: z.int().nullable(),
});

/** What is to be made: the whole request as far as it matters, in JSON. The same piece is always made the same. */
export const pieceSchema = z.discriminatedUnion('kind', [image, video, music]);

export type ImagePiece = z.output<typeof image>;
export type VideoPiece = z.output<typeof video>;
export type MusicPiece = z.output<typeof music>;
export type Piece = z.output<typeof pieceSchema>;

export interface Made {
  readonly data: Uint8Array;
  readonly isThumbnail: boolean;
}

/** Hears how far a piece is, from 0 to 1. */
export type Progress = (part: number) => void;
