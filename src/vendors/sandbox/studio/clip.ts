import encoderOf from 'h264-mp4-encoder';
import {
  BufferSource,
  BufferTarget,
  EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  type InputVideoTrack,
  MP4,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import { drawCaption, drawScene } from './drawing.ts';
import { fitted, insetsOf, marks, open, over, type Raster, rasterOf, text } from './picture.ts';
import type { Made, MusicPiece, Progress, VideoPiece } from './piece.ts';
import { aacSource, addSound, finished, soundOf } from './sound.ts';

/**
 * The scene moves in a loop of a few seconds. Only one round of it is drawn and encoded; a longer clip repeats its
 * packets, each round beginning with a key frame. So a clip costs what its loop costs, however long it is.
 */
const LOOP_SECONDS = 4;
/** What one round may have, so that a large or fast clip is ready in seconds too. */
const LOOP_PIXELS_MAX = 200_000_000;
const FADE_FRAMES_MAX = 24;
// Lower is better and larger; letters stay sharp at this.
const QUANTIZER = 28;
const FASTEST = 10;
const THUMBNAIL_PIXELS = 320;
const SAMPLE_RATE = 44_100;
const AAC_BLOCK = 1024;
const SOUND_BITRATE = 128_000;

export async function makeClip(piece: VideoPiece, progress: Progress): Promise<Made[]> {
  const { frames, width, height } = piece;
  const fade = Math.max(1, Math.min(FADE_FRAMES_MAX, piece.fps, Math.floor(frames / 3)));
  const opening = piece.firstFrame === null ? 0 : fade;
  const ending = piece.lastFrame === null ? 0 : Math.min(fade, frames - opening);
  const body = frames - opening - ending;
  const loop = Math.min(body, piece.fps * LOOP_SECONDS, Math.max(2, Math.floor(LOOP_PIXELS_MAX / (width * height))));
  const film: Film = { piece, loop: Math.max(1, loop), overlay: await overlayOf(piece) };
  const all = opening + loop + ending;
  let drawn = 0;
  const tick = () => progress(Math.min(1, ++drawn / all));
  // The moving scene goes on behind both pictures, as if there were no cut.
  const start = await fadeOf(
    film,
    { picture: piece.firstFrame, length: opening, shown: (at) => 1 - at / opening, at: -opening },
    tick,
  );
  const round = await encode(piece, loop, (at) => frameOf(film, at), tick);
  const end = await fadeOf(
    film,
    { picture: piece.lastFrame, length: ending, shown: (at) => (at + 1) / ending, at: body },
    tick,
  );
  const rounds = Array.from({ length: body }, (_, at) => round[at % loop]);
  const packets = [...start, ...rounds, ...end].filter((packet) => packet !== undefined);
  const still = piece.firstFrame === null ? await frameOf(film, 0) : await fitted(piece.firstFrame, width, height);
  const thumbnail = open(still).resize(THUMBNAIL_PIXELS, THUMBNAIL_PIXELS, { fit: 'inside', withoutEnlargement: true });
  const jpeg = await thumbnail.flatten({ background: '#000' }).jpeg({ quality: 80 }).toBuffer();
  return [
    { data: await muxed(piece, packets), isThumbnail: false },
    { data: jpeg, isThumbnail: true },
  ];
}

interface Film {
  readonly piece: VideoPiece;
  readonly loop: number;
  readonly overlay: Raster;
}

/** What stands still in front of the scene. */
async function overlayOf(piece: VideoPiece): Promise<Raster> {
  const { width, height, frames, fps, seed, notes, prompt, references } = piece;
  const facts = [
    `${width} × ${height}`,
    `${Math.round((frames / fps) * 100) / 100} s`,
    `${fps} fps`,
    `seed ${seed}`,
    ...notes,
  ];
  const clear = await rasterOf(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"/>`);
  const caption = text(drawCaption({ width, height }, prompt, facts.join(' · ')));
  return over(clear, [...(await insetsOf(references, width, height)), ...marks(piece), caption]);
}

async function frameOf({ piece, loop, overlay }: Film, at: number): Promise<Raster> {
  const { prompt, unwanted, width, height, isCameraFixed } = piece;
  const sketch = { prompt, unwanted, seed: String(piece.seed), width, height, detail: 1, isCutOut: false };
  const phase = (((at % loop) + loop) % loop) / loop;
  const scene = await rasterOf(drawScene(sketch, { phase, isCameraFixed }));
  return over(scene, [{ input: overlay.data, raw: { width, height, channels: 4 } }]);
}

interface Fade {
  readonly picture: string | null;
  readonly length: number;
  /** How much of the picture a frame shows. */
  readonly shown: (at: number) => number;
  /** The frame of the scene that the first one lies over. */
  readonly at: number;
}

async function fadeOf(film: Film, { picture, length, shown, at: from }: Fade, tick: () => void): Promise<Packet[]> {
  if (picture === null || length === 0) return [];
  const { width, height } = film.piece;
  const still = await fitted(picture, width, height);
  return encode(film.piece, length, async (at) => mixed(await frameOf(film, from + at), still, shown(at)), tick);
}

function mixed(below: Raster, above: Raster, part: number): Raster {
  const amount = Math.round(part * 256);
  const data = Buffer.allocUnsafe(below.data.length);
  for (let at = 0; at < data.length; at++) {
    const start = below.data[at] ?? 0;
    data[at] = start + ((((above.data[at] ?? 0) - start) * amount) >> 8);
  }
  return { ...below, data };
}

type DecoderConfig = NonNullable<Awaited<ReturnType<InputVideoTrack['getDecoderConfig']>>>;

interface Packet {
  readonly data: Uint8Array;
  readonly isKey: boolean;
  /** What a decoder must know first; the same for every packet of a size. */
  readonly decoderConfig: DecoderConfig;
}

/** Encodes frames of which the first can be decoded by itself. The next one is drawn while one is encoded. */
async function encode(
  { width, height, fps }: VideoPiece,
  count: number,
  draw: (at: number) => Promise<Raster>,
  tick: () => void,
): Promise<Packet[]> {
  if (count === 0) return [];
  const encoder = await encoderOf.createH264MP4Encoder();
  Object.assign(encoder, {
    width,
    height,
    frameRate: fps,
    speed: FASTEST,
    quantizationParameter: QUANTIZER,
    groupOfPictures: count + 1,
  });
  encoder.initialize();
  let next = draw(0);
  for (let at = 0; at < count; at++) {
    const { data } = await next;
    next = at + 1 < count ? draw(at + 1) : next;
    encoder.addFrameRgba(data);
    tick();
  }
  encoder.finalize();
  const file = encoder.FS.readFile(encoder.outputFilename);
  encoder.FS.unlink(encoder.outputFilename);
  encoder.delete();
  return packetsOf(file);
}

async function packetsOf(file: Uint8Array): Promise<Packet[]> {
  const input = new Input({ source: new BufferSource(file), formats: [MP4] });
  const track = await input.getPrimaryVideoTrack();
  const decoderConfig = await track?.getDecoderConfig();
  if (track === null || decoderConfig == null) throw new Error('the encoder gave no video');
  const packets: Packet[] = [];
  const sink = new EncodedPacketSink(track);
  for await (const { data, type } of sink.packets()) packets.push({ data, isKey: type === 'key', decoderConfig });
  return packets;
}

async function muxed(piece: VideoPiece, packets: readonly Packet[]): Promise<Uint8Array> {
  const { fps } = piece;
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'in-memory' }), target: new BufferTarget() });
  const picture = new EncodedVideoPacketSource('avc');
  output.addVideoTrack(picture, { frameRate: fps });
  const sound = piece.hasSound ? await aacSource(SOUND_BITRATE) : undefined;
  if (sound !== undefined) output.addAudioTrack(sound);
  await output.start();
  for (const [at, { data, isKey, decoderConfig }] of packets.entries()) {
    const packet = new EncodedPacket(data, isKey ? 'key' : 'delta', at / fps, 1 / fps);
    await picture.add(packet, at === 0 ? { decoderConfig } : undefined);
  }
  picture.close();
  if (sound !== undefined) await addSound(sound, soundOf(soundtrack(piece), 0));
  return finished(output);
}

/** Music of the prompt's mood. The encoder adds a block of its own, and no track may be longer than the pictures. */
function soundtrack({ prompt, seed, frames, fps }: VideoPiece): MusicPiece {
  const blocks = Math.floor(((frames / fps) * SAMPLE_RATE) / AAC_BLOCK) - 1;
  const seconds = (Math.max(1, blocks) * AAC_BLOCK) / SAMPLE_RATE;
  const sound = { words: prompt, lyrics: '', singer: '', speed: 1, volume: 0.8, isLoop: false, count: 1 } as const;
  return {
    ...sound,
    kind: 'music',
    seconds,
    seed,
    format: 'aac',
    sampleRate: SAMPLE_RATE,
    channels: 2,
    bitrate: SOUND_BITRATE,
  };
}
