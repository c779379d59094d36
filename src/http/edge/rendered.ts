import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A JSON answer that is made once and sent often, in the encodings that clients ask for. */
export class Rendered {
  readonly etag: string;
  // A text goes out in one write with the headers; bytes would need a second buffer in the same write.
  readonly #plain: string;
  readonly #plainBytes: string;
  #gzip: Buffer | undefined;
  #brotli: Buffer | undefined;

  constructor(value: unknown) {
    this.#plain = JSON.stringify(value);
    this.#plainBytes = String(Buffer.byteLength(this.#plain));
    this.etag = etagOf(this.#plain);
  }

  send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    reply.header('content-type', 'application/json; charset=utf-8').header('vary', 'accept-encoding');
    switch (encoding) {
      case 'br':
        this.#brotli ??= brotliCompressSync(this.#plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } });
        return reply.header('content-encoding', encoding).send(this.#brotli);
      case 'gzip':
        this.#gzip ??= gzipSync(this.#plain);
        return reply.header('content-encoding', encoding).send(this.#gzip);
      case undefined:
        return reply.header('content-length', this.#plainBytes).send(this.#plain);
    }
  }
}

/** Weak, because one tag stands for all encodings of the same content. */
export function etagOf(text: string): string {
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
}

// Named, and not refused with q=0.
const TAKES_BROTLI = /(?:^|[\s,])br\s*(?:,|$|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))/;
const TAKES_GZIP = /(?:^|[\s,])gzip\s*(?:,|$|;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))/;

/** The better encoding of those that a client takes. */
export function acceptedEncoding(accepted: string | string[] | undefined): 'br' | 'gzip' | undefined {
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
