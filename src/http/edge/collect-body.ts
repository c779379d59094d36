import type { IncomingMessage } from 'node:http';
import { ApiError, type ErrorCode } from '../../errors.ts';
import { countStreamedBytes } from '../../memory.ts';

/** What a route says of its bodies. */
interface BodyBounds {
  readonly bytesMax: number;
  readonly tooLarge: ErrorCode;
}

/**
 * The whole body. Where its length was announced, room for it is taken once and filled as it comes: a large body is
 * never there twice, and nothing is left to do at its end.
 */
export function collectBody(request: IncomingMessage, { bytesMax, tooLarge }: BodyBounds): Promise<Buffer> {
  const announced = Number(request.headers['content-length']);
  return new Promise((resolve, reject) => {
    if (announced > bytesMax) throw new ApiError(tooLarge);
    const body = new Collected(announced);
    const onData = (piece: Buffer) => {
      body.add(piece);
      if (body.bytes > bytesMax) end(() => reject(new ApiError(tooLarge)));
      else if (body.bytes > PACED_FROM_BYTES) {
        countStreamedBytes(piece.length);
        takeTurns(request);
      }
    };
    const onEnd = () => end(() => resolve(body.whole()));
    const onError = (error: Error) => end(() => reject(error));
    const end = (settlePromise: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onError);
      settlePromise();
    };
    request.on('data', onData).on('end', onEnd).on('error', onError).resume();
  });
}

/** A smaller body is read without pauses: it is too short to delay other connections. */
const PACED_FROM_BYTES = 1024 * 1024;

/**
 * One read in each turn of the event loop. Otherwise a turn takes two megabytes from every connection that has them, and
 * since it also lets in only one new connection, a few large bodies would keep new connections waiting for seconds.
 */
function takeTurns(request: IncomingMessage): void {
  request.pause();
  setImmediate(() => request.resume());
}

class Collected {
  readonly #announced: number;
  #pieces: Buffer[] = [];
  #room: Buffer | undefined;
  bytes = 0;

  /** NaN without a Content-Length. */
  constructor(announced: number) {
    this.#announced = announced;
  }

  add(piece: Buffer): void {
    // Pages that were never written to cost no memory: a body that announces much and brings little takes little.
    if (piece.length < this.#announced) this.#room ??= Buffer.allocUnsafeSlow(this.#announced);
    if (this.#room === undefined) this.#pieces.push(piece);
    else piece.copy(this.#room, this.bytes);
    this.bytes += piece.length;
  }

  whole(): Buffer {
    if (this.#room !== undefined) return this.#room.subarray(0, this.bytes);
    const [first] = this.#pieces;
    return first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
  }
}
