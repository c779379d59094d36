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
import { aacSource, finished, soundAdder } from './encoder.ts';
import type { Made, MusicPiece, Progress, VideoPiece } from './piece.ts';
import { fitted, insetsOf, layer, marks, open, over, type Raster, rasterOf } from './raster.ts';
import { soundOf } from './sound.ts';

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
  const film = await filmOf(piece);
  const { shots } = film;
  const all = shots.reduce((sum, { drawn }) => sum + drawn, 0);
  const packets: Packet[] = [];
  let done = 0;
  for (const shot of shots) {
    const round = await encode(film, shot, () => progress(++done / all));
    for (let at = 0; at < shot.frames; at++) {
      const packet = round[at % shot.drawn];
      if (packet !== undefined) packets.push(packet);
    }
  }
  const small = { fit: 'inside', withoutEnlargement: true } as const;
  const still = open(await frameOf(film, 0)).resize(THUMBNAIL_PIXELS, THUMBNAIL_PIXELS, small);
  return [
    { data: await muxed(piece, packets), isThumbnail: false },
    { data: await still.flatten({ background: '#000' }).jpeg({ quality: 80 }).toBuffer(), isThumbnail: true },
  ];
}

/** A part of a clip: the first frame fading out, the scene, or the last frame fading in. */
interface Shot {
  readonly start: number;
  readonly frames: number;
  /** So many frames are made; then they come again. */
  readonly drawn: number;
  readonly picture: Raster | undefined;
  /** How much of the picture lies over the scene. */
  readonly opacity: (at: number) => number;
}

interface Film {
  readonly piece: VideoPiece;
  readonly shots: readonly Shot[];
  /** How many frames the scene's loop has, and where it begins. */
  readonly loop: number;
  readonly loopStart: number;
  readonly overlay: Raster;
}

export async function filmOf(piece: VideoPiece): Promise<Film> {
  const { frames, fps, width, height, firstFrame, lastFrame } = piece;
  const fade = Math.max(1, Math.min(FADE_FRAMES_MAX, fps, Math.floor(frames / 3)));
  const opening = firstFrame === null ? 0 : fade;
  const ending = lastFrame === null ? 0 : Math.min(fade, frames - opening);
  const body = frames - opening - ending;
  const loop = Math.min(body, fps * LOOP_SECONDS, Math.floor(LOOP_PIXELS_MAX / (width * height)));
  const pictureOf = async (picture: string | null) => (picture === null ? undefined : fitted(picture, piece));
  const [first, last] = [await pictureOf(firstFrame), await pictureOf(lastFrame)];
  const shots: Shot[] = [
    { start: 0, frames: opening, drawn: opening, picture: first, opacity: (at) => 1 - at / opening },
    { start: opening, frames: body, drawn: loop, picture: undefined, opacity: () => 0 },
    { start: opening + body, frames: ending, drawn: ending, picture: last, opacity: (at) => (at + 1) / ending },
  ];
  const scene = { loop: Math.max(1, loop), loopStart: opening, overlay: await overlayOf(piece) };
  return { piece, shots: shots.filter((shot) => shot.frames > 0), ...scene };
}

/** What stands still in front of the scene. */
async function overlayOf(piece: VideoPiece): Promise<Raster> {
  const { width, height, frames, fps, seed, notes, prompt, references } = piece;
  const seconds = Math.round((frames / fps) * 100) / 100;
  const facts = [`${width} × ${height}`, `${seconds} s`, `${fps} fps`, `seed ${seed}`, ...notes];
  const clear = await rasterOf(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"/>`);
  const caption = layer(drawCaption({ width, height }, prompt, facts.join(' · ')));
  return over(clear, [...(await insetsOf(references, piece)), ...marks(piece), caption]);
}

/** One frame of the whole clip. The scene goes on behind both pictures as if they were not there. */
export async function frameOf({ piece, shots, loop, loopStart, overlay }: Film, at: number): Promise<Raster> {
  const { prompt, unwanted, width, height, isCameraFixed } = piece;
  const sketch = { prompt, unwanted, seed: String(piece.seed), width, height, detail: 1, behind: 'sky' } as const;
  const phase = ((((at - loopStart) % loop) + loop) % loop) / loop;
  const scene = await rasterOf(drawScene(sketch, { phase, isCameraFixed }));
  const frame = await over(scene, [{ input: overlay.data, raw: { width, height, channels: 4 } }]);
  const shot = shots.find(({ start, frames }) => at >= start && at < start + frames);
  return shot?.picture === undefined ? frame : mixed(frame, shot.picture, shot.opacity(at - shot.start));
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

/** The first packet can be decoded by itself. */
async function encode(film: Film, { start, drawn }: Shot, tick: () => void): Promise<Packet[]> {
  const { width, height, fps: frameRate } = film.piece;
  const encoder = await encoderOf.createH264MP4Encoder();
  const settings = { speed: FASTEST, quantizationParameter: QUANTIZER, groupOfPictures: drawn + 1 };
  Object.assign(encoder, { width, height, frameRate, ...settings });
  encoder.initialize();
  // The next frame is drawn while one is encoded.
  let next = frameOf(film, start);
  for (let at = 0; at < drawn; at++) {
    const { data } = await next;
    if (at + 1 < drawn) next = frameOf(film, start + at + 1);
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
  // The file that the encoder writes calls every frame a key frame.
  for await (const { data } of sink.packets()) packets.push({ data, isKey: packets.length === 0, decoderConfig });
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
  if (sound !== undefined) await soundAdder(sound)(soundOf(soundtrack(piece), 0));
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
