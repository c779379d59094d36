import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { LocalServer } from './local-server.ts';

export interface Recorded {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** Resolves when the exchange is over: true if the client left before the answer was whole. */
  readonly isAbandoned: Promise<boolean>;
}

/** Remembers every request, and how its exchange ended. */
export abstract class RecordingServer extends LocalServer {
  readonly requests: Recorded[] = [];

  /** Reads the whole request. Undefined: it was reset with its body unread, as `resets` wished. */
  protected async receive(
    request: IncomingMessage,
    response: ServerResponse,
    resets: boolean,
  ): Promise<Recorded | undefined> {
    if (resets) {
      this.record(request, response, Buffer.alloc(0));
      request.socket.resetAndDestroy();
      return undefined;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    return this.record(request, response, Buffer.concat(chunks));
  }

  protected record(request: IncomingMessage, response: ServerResponse, bytes: Buffer): Recorded {
    const isAbandoned = once(response, 'close').then(() => !response.writableFinished);
    const { method = '', url: path = '', headers } = request;
    const recorded = { method, path, headers, bytes, isAbandoned };
    this.requests.push(recorded);
    return recorded;
  }
}

/** Resolves when the bytes are with the system, or the peer takes them no more. */
export async function written(response: ServerResponse, piece: string | Buffer): Promise<void> {
  if (response.destroyed) return;
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.write(piece, () => {
      response.off('close', resolve);
      resolve();
    });
  });
}
