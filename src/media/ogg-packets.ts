import { MEDIA_CODEC_BYTES_MAX } from '../limits.ts';
import { Unreadable } from './buffered-reader.ts';
import { opusPackets, type PacketCounter, vorbisPackets } from './packets.ts';
import { readVorbisHeads } from './vorbis.ts';

const SEGMENTS_AT = 27;
/** A segment of so many bytes is followed by another of the same packet. */
const FULL_SEGMENT = 255;

/** The packets of one stream of an Ogg file, counted as its pages come. The first are the codec's headers. */
export class OggPackets {
  readonly #head: Buffer;
  readonly #isVorbis: boolean;
  /** Undefined until the last header is read. */
  #counter: PacketCounter | undefined;
  #headers = 0;
  /** What has come of Vorbis' third header, the setup. */
  #setup: Buffer[] = [];
  #setupBytes = 0;
  /** A packet goes on with the next page. */
  #isOpen = false;

  constructor(head: Buffer) {
    this.#isVorbis = head[0] === 1;
    // A copy: the page it stands on is not kept.
    this.#head = Buffer.from(head.subarray(0, 64));
  }

  add({ bodyAt, isContinued }: { readonly bodyAt: number; readonly isContinued: boolean }, page: Buffer): void {
    let isBegun = this.#isOpen && isContinued;
    let start = bodyAt;
    let at = bodyAt;
    for (let index = SEGMENTS_AT; index < bodyAt; index++) {
      const bytes = page.readUInt8(index);
      at += bytes;
      if (bytes === FULL_SEGMENT && index < bodyAt - 1) continue;
      const isEnd = bytes < FULL_SEGMENT;
      this.#piece(page.subarray(start, at), isBegun, isEnd);
      isBegun = !isEnd;
      start = at;
    }
    this.#isOpen = isBegun;
  }

  seconds(): number {
    return this.#counter?.seconds() ?? 0;
  }

  /** A packet or a part of one. */
  #piece(piece: Buffer, isRest: boolean, isEnd: boolean): void {
    if (this.#counter !== undefined) {
      if (!isRest) this.#counter.add(piece.length, piece);
      return;
    }
    if (this.#isVorbis && this.#headers === 2) this.#collect(piece);
    if (!isEnd) return;
    this.#headers++;
    if (!this.#isVorbis && this.#headers === 2) this.#counter = opusPackets();
    if (this.#isVorbis && this.#headers === 3) {
      this.#counter = vorbisPackets(readVorbisHeads(this.#head, Buffer.concat(this.#setup)));
      this.#setup = [];
    }
  }

  #collect(piece: Buffer): void {
    this.#setupBytes += piece.length;
    if (this.#setupBytes > MEDIA_CODEC_BYTES_MAX) throw new Unreadable('the setup of Vorbis is too long');
    this.#setup.push(Buffer.from(piece));
  }
}
