import { MEDIA_CODEC_BYTES_MAX, MEDIA_READ_BYTES_MAX, MEDIA_TRACKS_MAX } from '../limits.ts';
import { type BufferedReader, Unreadable } from './buffered-reader.ts';
import { numberBytes, readFloat, readNumber, readSigned, readUnsigned, textToNul } from './ebml.ts';
import { countBlock, isLaced } from './matroska-blocks.ts';
import { packetsOf } from './matroska-codecs.ts';
import {
  addBlock,
  newRecordedTrack,
  newRecording,
  type RecordedTrack,
  type Recording,
  tracksOf,
} from './matroska-tracks.ts';
import type { Measured } from './measured.ts';
import { measureTracks, type Track } from './tracks.ts';

/** Elements by their ids. */
const SEGMENT = 0x18538067;
const SEGMENT_HEAD = 0x1549a966;
const UNIT_NS = 0x2ad7b1;
const DURATION = 0x4489;
const TRACKS = 0x1654ae6b;
const TRACK = 0xae;
const NUMBER = 0xd7;
const TYPE = 0x83;
const CODEC = 0x86;
const DELAY_NS = 0x56aa;
const FRAME_NS = 0x23e383;
const VIDEO = 0xe0;
const AUDIO = 0xe1;
const SAMPLE_RATE = 0xb5;
const CHANNELS = 0x9f;
const SAMPLE_BITS = 0x6264;
const SETUP = 0x63a2;
const PACKING = 0x6d80;
const WIDTH = 0xb0;
const HEIGHT = 0xba;
const CLUSTER = 0x1f43b675;
const CLUSTER_AT = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
const BLOCK_DURATION = 0x9b;
const DISCARDED_NS = 0x75a2;
const VOID = 0xec;

const KINDS: ReadonlyMap<number, Track['kind']> = new Map([
  [1, 'video'],
  [2, 'audio'],
]);

/** Walked into. Where they end does not matter, and in a live recording is not told: what is inside is known by id. */
const ENTERED: ReadonlySet<number> = new Set([
  SEGMENT,
  SEGMENT_HEAD,
  TRACKS,
  TRACK,
  VIDEO,
  AUDIO,
  CLUSTER,
  BLOCK_GROUP,
]);

/** The head of an element, and as much of its content as anything here is read from. */
const LOOK_BYTES = 32;

/**
 * WebM and Matroska. Every block is looked at: the length is from the first block to the end of the last, since the
 * length that the head states is absent from live recordings and may be anything elsewhere.
 */
export async function measureMatroska(reader: BufferedReader): Promise<Measured> {
  const recording = newRecording();
  const range = { start: 0, end: reader.bytes, need: 2, want: LOOK_BYTES };
  const stoppedAt = await reader.walk(range, (view, offset, at) => {
    const { id, contentAt, bytes } = readHead(view, offset);
    const isEntered = ENTERED.has(id);
    const isKnown = bytes !== undefined;
    if (isKnown ? at + contentAt + bytes > reader.bytes : !isEntered) {
      throw new Unreadable(`the element at byte ${at} does not fit`);
    }
    if (id === TRACK) addTrack(recording);
    if (isEntered || !isKnown) return contentAt;
    const start = offset + contentAt;
    const content = view.subarray(start, start + bytes);
    if (id !== VOID) readElement(recording, id, content.subarray(0, LOOK_BYTES));
    const look = lookIn(recording, id, content, bytes);
    if (look === undefined) return contentAt + bytes;
    if (content.length >= look.bytes) return look.at(content, contentAt + bytes);
    return reader
      .from(at + contentAt, look.bytes)
      .then((whole) => look.at(whole.subarray(0, look.bytes), contentAt + bytes));
  });
  if (stoppedAt !== reader.bytes) throw new Unreadable('the last element is cut off');
  return measureTracks(tracksOf(recording));
}

/** What more than its beginning is wanted of an element, and what is done with it. Returns how long the element is. */
interface Look {
  readonly bytes: number;
  readonly at: (content: Buffer, elementBytes: number) => number;
}

function lookIn(recording: Recording, id: number, content: Buffer, bytes: number): Look | undefined {
  if (id === SETUP) {
    const track = recording.tracks.at(-1);
    if (track === undefined || bytes > MEDIA_CODEC_BYTES_MAX) return undefined;
    const keep = (whole: Buffer, elementBytes: number) => {
      track.sound.setup = Buffer.from(whole);
      return elementBytes;
    };
    return { bytes, at: keep };
  }
  if (id !== SIMPLE_BLOCK && id !== BLOCK) return undefined;
  const track = recording.byNumber.get(readNumber(content, 0));
  if (track?.kind !== 'audio') return undefined;
  if (track.blocks === 1) track.counter = packetsOf(track.sound);
  const { counter } = track;
  if (counter === undefined) return undefined;
  const flagsAt = codedBytes(content, 0) + 2;
  const isWhole = counter.look > LOOK_BYTES || isLaced(content[flagsAt] ?? 0);
  if (isWhole && bytes > MEDIA_READ_BYTES_MAX) throw new Unreadable('a block is too large');
  const count = (block: Buffer, elementBytes: number) => {
    countBlock(block.subarray(flagsAt), bytes - flagsAt, counter);
    return elementBytes;
  };
  return { bytes: isWhole ? bytes : Math.min(bytes, flagsAt + 1 + counter.look), at: count };
}

interface Head {
  readonly id: number;
  readonly contentAt: number;
  /** Undefined if it was not known when it was written. */
  readonly bytes: number | undefined;
}

function readHead(view: Buffer, offset: number): Head {
  const idBytes = codedBytes(view, offset);
  const contentAt = idBytes + codedBytes(view, offset + idBytes);
  if (idBytes > 4 || offset + contentAt > view.length) throw new Unreadable('an element has no head');
  const bytes = readNumber(view, offset + idBytes);
  const isUnknown = bytes >= 2 ** (7 * (contentAt - idBytes)) - 1;
  return { id: view.readUIntBE(offset, idBytes), contentAt, bytes: isUnknown ? undefined : bytes };
}

function addTrack(recording: Recording): void {
  if (recording.tracks.push(newRecordedTrack()) > MEDIA_TRACKS_MAX) throw new Unreadable('too many tracks');
}

function readElement(recording: Recording, id: number, content: Buffer): void {
  switch (id) {
    case UNIT_NS:
      recording.unitNs = readUnsigned(content);
      return;
    case DURATION:
      recording.duration = readFloat(content);
      return;
    case CLUSTER_AT:
      recording.clusterAt = readUnsigned(content);
      return;
    case SIMPLE_BLOCK:
    case BLOCK:
      readBlock(recording, content);
      return;
    case BLOCK_DURATION:
      if (recording.latest !== undefined) recording.latest.lastNs = readUnsigned(content) * recording.unitNs;
      return;
    case DISCARDED_NS:
      if (recording.latest !== undefined) recording.latest.discardedNs = readSigned(content);
      return;
  }
  const track = recording.tracks.at(-1);
  if (track !== undefined) readTrack(recording, track, id, content);
}

function readTrack(recording: Recording, track: RecordedTrack, id: number, content: Buffer): void {
  switch (id) {
    case NUMBER:
      recording.byNumber.set(readUnsigned(content), track);
      if (recording.byNumber.size > MEDIA_TRACKS_MAX) throw new Unreadable('too many tracks');
      break;
    case TYPE:
      track.kind = KINDS.get(readUnsigned(content));
      break;
    case CODEC:
      track.sound.codec = textToNul(content);
      break;
    case SAMPLE_RATE:
      track.sound.sampleRate = readFloat(content);
      break;
    case CHANNELS:
      track.sound.channels = readUnsigned(content);
      break;
    case SAMPLE_BITS:
      track.sound.sampleBits = readUnsigned(content);
      break;
    case PACKING:
      track.sound.isPacked = true;
      break;
    case DELAY_NS:
      track.delayNs = readUnsigned(content);
      break;
    case FRAME_NS:
      track.frameNs = readUnsigned(content);
      break;
    case WIDTH:
      track.width = readUnsigned(content);
      break;
    case HEIGHT:
      track.height = readUnsigned(content);
      break;
  }
}

/** A block begins with the number of its track. */
function readBlock(recording: Recording, content: Buffer): void {
  const numberBytes = codedBytes(content, 0);
  if (content.length < numberBytes + 3) throw new Unreadable('a block has no head');
  const track = recording.byNumber.get(readNumber(content, 0));
  recording.latest = undefined;
  if (track !== undefined) addBlock(recording, track, content, numberBytes);
}

function codedBytes(view: Buffer, at: number): number {
  const bytes = numberBytes(view, at);
  if (bytes === undefined) throw new Unreadable('a number has no end');
  return bytes;
}
