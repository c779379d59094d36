import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { UPSTREAM_RESPONSE_BYTES_MAX } from '../../limits.ts';
import type { UpstreamReply } from './exchange.ts';
import { parseObject } from './http.ts';

export interface JsonWithBlobs {
  /** What was a string under the key is now the number of its blob. */
  readonly json: JsonObject;
  readonly blobs: readonly Buffer[];
}

/**
 * A JSON object whose bulk is base64 under one key. It is decoded while it arrives: text, parsed copy and result of a
 * large answer are never in memory together, and no other call waits while all of it is parsed. A string that is missed
 * because of odd spacing is still in `json`.
 */
export function readJsonWithBlobs(reply: UpstreamReply, key: string, bytesMax: number): Promise<JsonWithBlobs> {
  return readJsonWith(BASE64, reply, key, bytesMax);
}

/** Turns the text of one value into bytes while it arrives. */
export interface BlobDecoder {
  /** The character that ends the value. */
  readonly close: string;
  push(text: string): void;
  end(): Buffer;
}

/** By the character that begins a value. */
export type BlobDecoders = Readonly<Record<string, () => BlobDecoder>>;

/** The same for bulk in any form that there is a decoder for. */
export async function readJsonWith(
  decoders: BlobDecoders,
  { body }: UpstreamReply,
  key: string,
  bytesMax: number,
): Promise<JsonWithBlobs> {
  const splitter = new BlobSplitter(key, decoders);
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > bytesMax) throw new UpstreamError('garbled', 'the answer is too large');
    splitter.push(piece);
    if (splitter.textChars > UPSTREAM_RESPONSE_BYTES_MAX) throw new UpstreamError('garbled', 'the answer is too large');
  }
  const json = parseObject(splitter.text());
  if (json === undefined) throw new UpstreamError('garbled', 'the answer is not a JSON object');
  return { json, blobs: splitter.blobs };
}

/** The key, its colon and some space between them may lie on both sides of a border. */
const TAIL_CHARS = 64;

/** Text is kept as Latin-1, a character for each byte, until it is whole. */
export class BlobSplitter {
  readonly blobs: Buffer[] = [];
  readonly #decoders: BlobDecoders;
  readonly #start: RegExp;
  readonly #text: string[] = [];
  /** How much is not in blobs, and so held as text. */
  textChars = 0;
  #tail = '';
  #blob: BlobDecoder | undefined;

  constructor(key: string, decoders: BlobDecoders) {
    this.#decoders = decoders;
    // Inside a string the quotes would be escaped, so this can only be the key itself.
    this.#start = new RegExp(`"${key}"\\s*:\\s*[${Object.keys(decoders).join('').replace('[', '\\[')}]`);
  }

  push(piece: Buffer): void {
    let rest = piece.toString('latin1');
    while (rest !== '') rest = this.#blob === undefined ? this.#takeText(rest) : this.#takeBlob(this.#blob, rest);
  }

  text(): string {
    return Buffer.from(this.#text.join('') + this.#tail, 'latin1').toString('utf8');
  }

  #takeText(rest: string): string {
    const text = this.#tail + rest;
    const found = this.#start.exec(text);
    if (found === null) {
      const cut = Math.max(0, text.length - TAIL_CHARS);
      this.#text.push(text.slice(0, cut));
      this.textChars += cut;
      this.#tail = text.slice(cut);
      return '';
    }
    const end = found.index + found[0].length;
    this.#text.push(text.slice(0, end - 1), String(this.blobs.length));
    this.textChars += end;
    this.#tail = '';
    this.#blob = this.#decoders[text.charAt(end - 1)]?.();
    return text.slice(end);
  }

  #takeBlob(blob: BlobDecoder, rest: string): string {
    const end = rest.indexOf(blob.close);
    blob.push(end === -1 ? rest : rest.slice(0, end));
    if (end === -1) return '';
    this.blobs.push(blob.end());
    this.#blob = undefined;
    return rest.slice(end + 1);
  }
}

const DATA_PREFIX = /^data:[^,]*,/;
const DATA_PREFIX_CHARS_MAX = 256;
const ESCAPE_CHARS_MAX = 6;

/** Base64 inside a JSON string: with escapes, line breaks or the head of a data URL, as some servers write it. */
export class Base64Decoder implements BlobDecoder {
  readonly close = '"';
  readonly #pieces: Buffer[] = [];
  #pending = '';
  #isFirst = true;

  push(text: string): void {
    this.#pending += text;
    if (!this.#isFirst || this.#pending.length >= DATA_PREFIX_CHARS_MAX) this.#decode(false);
  }

  /** What has been decoded since the last time, for a reader that holds no more of it than that. */
  take(): Buffer {
    return Buffer.concat(this.#pieces.splice(0));
  }

  end(): Buffer {
    this.#decode(true);
    return Buffer.concat(this.#pieces);
  }

  #decode(isLast: boolean): void {
    const text = this.#isFirst ? this.#pending.replace(DATA_PREFIX, '') : this.#pending;
    this.#isFirst = false;
    // The rest of an escape, or of four characters that are three bytes, may be still to come.
    const cut = isLast ? -1 : text.indexOf('\\', Math.max(0, text.length - ESCAPE_CHARS_MAX + 1));
    const whole = cut === -1 ? text : text.slice(0, cut);
    const clean = /[\\\s]/.test(whole) ? plain(whole) : whole;
    const end = isLast ? clean.length : clean.length - (clean.length % 4);
    this.#pieces.push(Buffer.from(clean.slice(0, end), 'base64'));
    this.#pending = clean.slice(end) + text.slice(whole.length);
  }
}

function plain(text: string): string {
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\[bfnrt]|[\\\s]/g, '');
}

const BASE64: BlobDecoders = { '"': () => new Base64Decoder() };
