import { UpstreamError } from '../../errors.ts';
import type { JsonValue } from '../../json.ts';
import { UPSTREAM_VECTORS_BYTES_MAX, VECTORS_BYTES_MAX } from '../../limits.ts';
import { Base64Decoder, type BlobDecoder, type BlobDecoders, type JsonWithBlobs, readJsonWith } from './blobs.ts';
import type { UpstreamReply } from './exchange.ts';
import { isList } from './json.ts';

/**
 * A JSON object whose bulk is vectors under one key, as base64 of float32 or as numbers. They are decoded while they
 * arrive: as a tree, one answer of three million numbers would take 50 MB and block the event loop for half a second.
 */
export async function readJsonWithVectors(reply: UpstreamReply, key: string): Promise<JsonWithBlobs> {
  return readJsonWith(boundedDecoders(), reply, key, UPSTREAM_VECTORS_BYTES_MAX);
}

/** All vectors of one answer together are bounded: digits may be as short as `0,`, and each is four bytes. */
function boundedDecoders(): BlobDecoders {
  let bytes = 0;
  const grow = (more: number): void => {
    bytes += more;
    if (bytes > VECTORS_BYTES_MAX) throw new UpstreamError('garbled', 'the vectors are too large');
  };
  return { '"': () => new BoundedBase64(grow), '[': () => new FloatDecoder(grow) };
}

type Grow = (bytes: number) => void;

class BoundedBase64 extends Base64Decoder {
  readonly #grow: Grow;

  constructor(grow: Grow) {
    super();
    this.#grow = grow;
  }

  override push(text: string): void {
    this.#grow(text.length * (3 / 4));
    super.push(text);
  }
}

const FLOAT_BYTES = 4;
const FLOATS_FIRST = 1_024;

/** The numbers of a JSON list as float32, small end first: each becomes the float that is nearest to its digits. */
class FloatDecoder implements BlobDecoder {
  readonly close = ']';
  readonly #grow: Grow;
  #floats = new Float32Array(FLOATS_FIRST);
  #count = 0;
  /** A number whose end may be still to come. */
  #pending = '';

  constructor(grow: Grow) {
    this.#grow = grow;
  }

  push(text: string): void {
    const all = this.#pending + text;
    const end = all.lastIndexOf(',');
    if (end !== -1) this.#take(all.slice(0, end));
    this.#pending = all.slice(end + 1);
  }

  end(): Buffer {
    if (this.#count > 0 || this.#pending.trim() !== '') this.#take(this.#pending);
    const bytes = Buffer.allocUnsafe(this.#count * FLOAT_BYTES);
    for (let at = 0; at < this.#count; at++) bytes.writeFloatLE(this.#floats[at] ?? 0, at * FLOAT_BYTES);
    return bytes;
  }

  #take(numbers: string): void {
    for (let start = 0, end = 0; end !== -1; start = end + 1) {
      end = numbers.indexOf(',', start);
      this.#add(numberOf(numbers.slice(start, end === -1 ? undefined : end)));
    }
  }

  #add(value: number): void {
    if (this.#count === this.#floats.length) {
      const larger = new Float32Array(2 * this.#count);
      larger.set(this.#floats);
      this.#floats = larger;
    }
    this.#grow(FLOAT_BYTES);
    this.#floats[this.#count++] = value;
  }
}

/** Throws for what is no number, or none that a float32 can be near to. */
function numberOf(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Math.fround(Number(text));
  if (!Number.isFinite(value)) throw new UpstreamError('garbled', `a vector with "${text.slice(0, 20)}" in it`);
  return value;
}

/** A small vector that was parsed with its answer. */
export function vectorOf(value: JsonValue | undefined): Buffer {
  const numbers = isList(value) ? value : [];
  const bytes = Buffer.alloc(numbers.length * FLOAT_BYTES);
  for (const [at, number] of numbers.entries()) {
    if (typeof number !== 'number') throw new UpstreamError('garbled', 'a vector that is none');
    bytes.writeFloatLE(number, at * FLOAT_BYTES);
  }
  if (bytes.length === 0) throw new UpstreamError('garbled', 'an answer without a vector');
  return bytes;
}
