import type { FastifyReply } from 'fastify';
import { drained } from './events.ts';

/** Bytes as base64, in pieces as they come. */
export async function* base64Of(body: AsyncIterable<Buffer>): AsyncIterable<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of body) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    // Three bytes are four characters: what is left over is written with the next piece.
    const whole = bytes.length - (bytes.length % 3);
    rest = bytes.subarray(whole);
    if (whole > 0) yield bytes.toString('base64', 0, whole);
  }
  if (rest.length > 0) yield rest.toString('base64');
}

/** A JSON document with status 200 that is written piece by piece. Takes the answer over from the framework. */
export class StreamedJson {
  readonly #reply: FastifyReply;
  #hasBegun = false;

  constructor(reply: FastifyReply) {
    this.#reply = reply;
    const { raw } = reply;
    reply.hijack();
    reply.header('content-type', 'application/json; charset=utf-8').header('x-accel-buffering', 'no');
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
    raw.writeHead(200);
  }

  /** White space in front of the document: keeps proxies and client libraries from giving up. */
  keepAlive(): void {
    if (!this.#reply.raw.destroyed) this.#reply.raw.write(' ');
  }

  /** The rest of the document. What `pieces` throws is thrown; then it has no end. */
  async send(pieces: AsyncIterable<string>): Promise<void> {
    const { raw } = this.#reply;
    for await (const piece of pieces) {
      if (raw.destroyed) return;
      this.#hasBegun = true;
      if (!raw.write(piece)) await drained(raw);
    }
    raw.end();
  }

  /** Another document in its place, if nothing of it was sent; else, or without another, the connection is cut. */
  fail(document: string | undefined): void {
    if (document === undefined || this.#hasBegun) this.#reply.raw.destroy();
    else this.#reply.raw.end(document);
  }
}
