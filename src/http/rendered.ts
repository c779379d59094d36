import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A JSON answer that is made once and sent often, in the encodings that clients ask for. */
export class Rendered {
  readonly etag: string;
  readonly #plain: Buffer;
  #gzip: Buffer | undefined;
  #brotli: Buffer | undefined;

  constructor(value: unknown) {
    this.#plain = Buffer.from(JSON.stringify(value));
    // Weak, because one tag stands for all encodings of the same content.
    this.etag = `W/"${createHash('sha256').update(this.#plain).digest('base64url').slice(0, 27)}"`;
  }

  send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const encoding = chosenEncoding(request.headers['accept-encoding']);
    reply.header('content-type', 'application/json; charset=utf-8').header('vary', 'accept-encoding');
    if (encoding !== undefined) reply.header('content-encoding', encoding);
    return reply.send(this.#bytes(encoding));
  }

  #bytes(encoding: 'br' | 'gzip' | undefined): Buffer {
    switch (encoding) {
      case 'br':
        this.#brotli ??= brotliCompressSync(this.#plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } });
        return this.#brotli;
      case 'gzip':
        this.#gzip ??= gzipSync(this.#plain);
        return this.#gzip;
      case undefined:
        return this.#plain;
    }
  }
}

// Named, and not refused with q=0.
const TAKES_BROTLI = /(?:^|[\s,])br\s*(?:,|$|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))/;
const TAKES_GZIP = /(?:^|[\s,])gzip\s*(?:,|$|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))/;

function chosenEncoding(accepted: string | string[] | undefined): 'br' | 'gzip' | undefined {
  if (accepted === undefined) return undefined;
  const offers = String(accepted).toLowerCase();
  if (TAKES_BROTLI.test(offers)) return 'br';
  return TAKES_GZIP.test(offers) ? 'gzip' : undefined;
}

/** Weak comparison as HTTP defines it for If-None-Match: a list, `W/` prefixes and `*` are understood. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((item) => item.trim() === '*' || opaque(item) === opaque(etag));
}

function opaque(etag: string): string {
  return etag.trim().replace(/^W\//, '');
}
