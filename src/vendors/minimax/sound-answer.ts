import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_PICTURES_BYTES_MAX } from '../../limits.ts';
import { type BlobDecoder, type BlobDecoders, readJsonWith } from '../kit/blobs.ts';
import type { Upstream } from '../kit/http.ts';
import type { Call } from '../kit/wire.ts';
import { wire } from './wire.ts';

interface SoundAnswer {
  readonly json: JsonObject;
  readonly data: Buffer;
}

/** Two digits are a byte; one of them may be still to come. */
class HexDecoder implements BlobDecoder {
  readonly close = '"';
  readonly #pieces: Buffer[] = [];
  #pending = '';

  push(text: string): void {
    const digits = this.#pending + text;
    const end = digits.length - (digits.length % 2);
    const piece = Buffer.from(digits.slice(0, end), 'hex');
    // The decoder of the runtime stops at what is no digit, and says nothing.
    if (piece.length * 2 !== end) throw new UpstreamError('garbled', 'sound that is not hexadecimal');
    this.#pieces.push(piece);
    this.#pending = digits.slice(end);
  }

  end(): Buffer {
    if (this.#pending !== '') throw new UpstreamError('garbled', 'sound that ends within a byte');
    return Buffer.concat(this.#pieces);
  }
}

const HEX: BlobDecoders = { '"': () => new HexDecoder() };

/** An answer whose sound is hexadecimal digits under one key, decoded while it arrives. */
export async function readSound(upstream: Upstream, call: Call, key: string): Promise<SoundAnswer> {
  const reply = await wire.send(upstream, call);
  const { json, blobs } = await readJsonWith(HEX, reply, key, UPSTREAM_PICTURES_BYTES_MAX);
  wire.faults.throwIfError(json);
  const [data] = blobs;
  if (data === undefined || data.length === 0) throw new UpstreamError('garbled', 'an answer without sound');
  return { json, data };
}
