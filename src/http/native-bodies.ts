import { ApiError } from '../errors.ts';
import { type NativeAsked, readNative } from '../requests/index.ts';
import { Thread } from '../thread.ts';

/** Below this a body is read sooner than it is handed over. */
const LARGE_BODY_BYTES = 256 * 1024;

/** Its memory is handed over with it, and comes back with the answer. */
export interface LargeBody {
  readonly buffer: ArrayBuffer;
  readonly start: number;
  readonly bytes: number;
}

export interface ReadBody {
  /** Undefined when it is no JSON object. */
  readonly asked: NativeAsked | undefined;
  readonly body: LargeBody;
}

/** What came of a body: the same bytes, and what they ask for. */
interface NativeBody {
  readonly body: Buffer;
  readonly asked: NativeAsked;
}

/**
 * Reads native bodies for their price. A large one takes a tenth of a second or more, in which nobody else would be
 * served: it is read in a thread of its own, which is there only while there are such bodies.
 */
export class NativeBodies {
  #thread: Thread<LargeBody, ReadBody> | undefined;
  /** In the order in which they were handed over, which is that of the answers. */
  readonly #waiting: PromiseWithResolvers<ReadBody>[] = [];

  async read(body: Buffer): Promise<NativeBody> {
    if (body.length < LARGE_BODY_BYTES || !(body.buffer instanceof ArrayBuffer)) {
      return { body, asked: readNative(body) };
    }
    const read = await this.#handOver({ buffer: body.buffer, start: body.byteOffset, bytes: body.length });
    if (read.asked === undefined) throw new ApiError('bad_request_body');
    return { body: Buffer.from(read.body.buffer, read.body.start, read.body.bytes), asked: read.asked };
  }

  #handOver(body: LargeBody): Promise<ReadBody> {
    const answer = Promise.withResolvers<ReadBody>();
    this.#waiting.push(answer);
    this.#thread ??= this.#start();
    this.#thread.give(body, [body.buffer]);
    return answer.promise;
  }

  #start(): Thread<LargeBody, ReadBody> {
    const onRead = (read: ReadBody) => {
      this.#waiting.shift()?.resolve(read);
      if (this.#waiting.length === 0) this.#thread?.rest();
    };
    return new Thread(new URL('./native-thread.ts', import.meta.url), onRead, (detail) => {
      this.#thread = undefined;
      for (const answer of this.#waiting.splice(0)) answer.reject(new Error(detail));
    });
  }
}
