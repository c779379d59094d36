import assert from 'node:assert/strict';
import { isWrittenNumber } from '../../json.ts';
import type { WireMedia } from '../kit/mapping.ts';
import type { CallBody } from '../kit/wire.ts';
import type { Media } from '../vendor.ts';

/** Fields as MessagePack, in which media stand as their bytes. These are read when their turn comes, piece by piece. */
export function msgpackWithMedia(fields: Readonly<Record<string, WireMedia>>): CallBody {
  const parts: (Buffer | Media)[] = [];
  encode(fields, parts);
  const bytes = parts.reduce((sum, part) => sum + (Buffer.isBuffer(part) ? part.length : part.bytes), 0);
  return { type: 'application/msgpack', content: { bytes, pieces: pieces(parts) } };
}

async function* pieces(parts: readonly (Buffer | Media)[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) {
      yield part;
      continue;
    }
    let bytes = 0;
    for await (const piece of part.pieces()) {
      bytes += piece.length;
      yield piece;
    }
    // The length of the whole has been promised already.
    assert.equal(bytes, part.bytes, 'a medium has another length than it was said to have');
  }
}

function encode(value: WireMedia, parts: (Buffer | Media)[]): void {
  if (value === null || value === undefined) parts.push(Buffer.from([0xc0]));
  else if (typeof value === 'boolean') parts.push(Buffer.from([value ? 0xc3 : 0xc2]));
  else if (typeof value === 'number') parts.push(numberBytes(value));
  else if (typeof value === 'string') parts.push(sized(0xdb, Buffer.byteLength(value)), Buffer.from(value));
  // A number that is kept as written has no place in this format, which has doubles only.
  else if (isWrittenNumber(value)) parts.push(numberBytes(Number(JSON.stringify(value))));
  else if (isMedia(value)) parts.push(sized(0xc6, value.bytes), value);
  else if (Array.isArray(value)) encodeList(value, parts);
  else encodeMap(Object.entries(value), parts);
}

function encodeList(items: readonly WireMedia[], parts: (Buffer | Media)[]): void {
  parts.push(sized(0xdd, items.length));
  for (const item of items) encode(item, parts);
}

function encodeMap(entries: readonly (readonly [string, WireMedia])[], parts: (Buffer | Media)[]): void {
  const present = entries.filter(([, value]) => value !== undefined);
  parts.push(sized(0xdf, present.length));
  for (const [name, value] of present) {
    encode(name, parts);
    encode(value, parts);
  }
}

/** A type of 32-bit length: its longest form, which every reader knows. */
function sized(type: number, length: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes[0] = type;
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

/** Whole numbers of 32 bits as such: a field of whole numbers takes no double. */
function numberBytes(value: number): Buffer {
  const isInteger = Number.isInteger(value) && Math.abs(value) < 2 ** 31;
  const bytes = Buffer.alloc(isInteger ? 5 : 9);
  bytes[0] = isInteger ? 0xd2 : 0xcb;
  if (isInteger) bytes.writeInt32BE(value, 1);
  else bytes.writeDoubleBE(value, 1);
  return bytes;
}

function isMedia(value: object): value is Media {
  return 'read' in value && typeof value.read === 'function';
}
