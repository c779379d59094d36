import { MEDIA_READ_BYTES_MAX } from '../limits.ts';
import { type BufferedReader, Unreadable } from './buffered-reader.ts';
import { type Box, boxContent, boxType, eachRow } from './mp4-boxes.ts';
import { packetsIn } from './mp4-codecs.ts';
import type { MovieTrack } from './mp4-tracks.ts';
import { NO_BYTES, type PacketCounter } from './packets.ts';

/** What the tables of a track tell of its packets: how large each is, and where they lie. */
export interface PacketTables {
  /** Undefined where the sound is of a coding that is not counted, or its tables are not read. */
  counter: PacketCounter | undefined;
  isDescribed: boolean;
  sizes: Table | undefined;
  /** The size that all have; 0 if each has its own. */
  fixedBytes: number;
  /** How many packets the chunks hold, from which chunk on. */
  runs: Table | undefined;
  chunks: Table | undefined;
}

interface Table {
  readonly at: number;
  readonly rows: number;
  readonly rowBytes: number;
}

export function newTables(): PacketTables {
  const tables = { sizes: undefined, fixedBytes: 0, runs: undefined, chunks: undefined };
  return { counter: undefined, isDescribed: false, ...tables };
}

/** Sound alone: of pictures nothing is charged but the time that they are shown. */
export async function describe(track: MovieTrack, box: Box, reader: BufferedReader): Promise<undefined> {
  track.packets.isDescribed = true;
  track.packets.counter = await packetsIn(reader, box);
}

const COMPACT_SIZES = boxType('stz2');

/** Where every packet counts alike by its size, they are counted at once. */
export function readSizes(track: MovieTrack, box: Box, reader: BufferedReader): Promise<undefined> | undefined {
  const content = boxContent(box, 12);
  const { packets } = track;
  if (track.kind === 'vide') return undefined;
  if (!packets.isDescribed) throw new Unreadable('its packets come before what they are');
  if (box.type === COMPACT_SIZES) packets.counter = undefined;
  const { counter } = packets;
  if (counter === undefined) return undefined;
  packets.fixedBytes = content.readUInt32BE(4);
  const rows = content.readUInt32BE(8);
  packets.sizes = { at: box.at + 12, rows, rowBytes: 4 };
  if (counter.look > 0) return undefined;
  if (packets.fixedBytes > 0) counter.add(packets.fixedBytes, NO_BYTES, rows);
  else {
    return eachRow(reader, box, { start: 12, rows, rowBytes: 4 }, (view, offset) =>
      counter.add(view.readUInt32BE(offset), NO_BYTES),
    );
  }
  return undefined;
}

export function readRuns(track: MovieTrack, box: Box): undefined {
  track.packets.runs = { at: box.at + 8, rows: boxContent(box, 8).readUInt32BE(4), rowBytes: 12 };
}

/** Looks at the packets that the tables list, where that is needed to count them. */
export async function countListed({ packets }: MovieTrack, reader: BufferedReader): Promise<void> {
  const { counter, sizes, runs, chunks, fixedBytes } = packets;
  if (counter === undefined || counter.look === 0 || sizes === undefined || sizes.rows === 0) return;
  if (runs === undefined || chunks === undefined) throw new Unreadable('it does not tell where its packets lie');
  const places = new Cursor(reader, chunks);
  const counts = new Cursor(reader, runs);
  const lengths = fixedBytes > 0 ? undefined : new Cursor(reader, sizes);
  const packetReader = new PacketReader(reader, counter);
  let perChunk = 0;
  let nextRunFrom = await firstChunk(counts);
  let left = sizes.rows;
  for (let chunk = 1; left > 0 && chunk <= chunks.rows; chunk++) {
    if (chunk === nextRunFrom) {
      perChunk = (await counts.row()).readUInt32BE(4);
      counts.next();
      nextRunFrom = await firstChunk(counts);
    }
    reader.countPart();
    const row = await places.row();
    packetReader.at = chunks.rowBytes === 8 ? row.readUInt32BE(0) * 2 ** 32 + row.readUInt32BE(4) : row.readUInt32BE(0);
    places.next();
    const here = Math.min(perChunk, left);
    left -= here;
    for (let index = 0; index < here; index++) {
      const bytes =
        lengths === undefined ? fixedBytes : (lengths.bufferedRow() ?? (await lengths.row())).readUInt32BE(0);
      lengths?.next();
      if (!packetReader.take(bytes)) await packetReader.fetch(bytes);
    }
  }
}

async function firstChunk(counts: Cursor): Promise<number> {
  return counts.isAtEnd ? 0 : (await counts.row()).readUInt32BE(0);
}

/** Reads packets that follow each other, and gives them to be counted. */
export class PacketReader {
  at = 0;
  readonly #reader: BufferedReader;
  readonly #counter: PacketCounter;
  #from = 0;
  #view: Buffer = NO_BYTES;

  constructor(reader: BufferedReader, counter: PacketCounter) {
    this.#reader = reader.fork();
    this.#counter = counter;
  }

  /** False if the next packet has to be fetched. */
  take(bytes: number): boolean {
    const offset = this.at - this.#from;
    const looked = Math.min(bytes, this.#counter.look);
    if (offset < 0 || offset + looked > this.#view.length) return false;
    this.#reader.countPart();
    this.#counter.add(bytes, this.#view.subarray(offset, offset + looked));
    this.at += bytes;
    return true;
  }

  async fetch(bytes: number): Promise<void> {
    if (this.at + bytes > this.#reader.bytes) throw new Unreadable('the media ends early');
    const looked = Math.min(bytes, this.#counter.look);
    if (looked > MEDIA_READ_BYTES_MAX) throw new Unreadable('a packet is too large');
    this.#view = await this.#reader.from(this.at, looked);
    this.#from = this.at;
    this.take(bytes);
  }
}

/** Goes through the rows of a table. */
class Cursor {
  readonly #reader: BufferedReader;
  readonly #table: Table;
  #row = 0;
  #view: Buffer = NO_BYTES;
  #offset = 0;

  constructor(reader: BufferedReader, table: Table) {
    if (table.at + table.rows * table.rowBytes > reader.bytes) throw new Unreadable('a table is longer than the file');
    this.#reader = reader.fork();
    this.#table = table;
  }

  get isAtEnd(): boolean {
    return this.#row >= this.#table.rows;
  }

  /** The present row, if it is in memory. */
  bufferedRow(): Buffer | undefined {
    const end = this.#offset + this.#table.rowBytes;
    return end <= this.#view.length ? this.#view.subarray(this.#offset, end) : undefined;
  }

  async row(): Promise<Buffer> {
    const buffered = this.bufferedRow();
    if (buffered !== undefined) return buffered;
    const { at, rowBytes } = this.#table;
    this.#view = await this.#reader.from(at + this.#row * rowBytes, rowBytes);
    this.#offset = 0;
    return this.#view.subarray(0, rowBytes);
  }

  next(): void {
    this.#row++;
    this.#offset += this.#table.rowBytes;
  }
}
