import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { S3_CREDENTIALS_KEPT_MAX } from '../limits.ts';
import { isObjectKey } from './object-store.ts';

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Recognises the links that were made with our own credentials. One made with others is not ours. */
export class PresignedLinks {
  /** The address of an object without its key. */
  readonly #prefix: string;
  /** Those of a role change every few hours, and links that were made with the last ones still hold. */
  readonly #secrets = new Map<string, string>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  remember({ accessKeyId, secretAccessKey }: Credentials): void {
    this.#secrets.set(accessKeyId, secretAccessKey);
    const [oldest] = this.#secrets.keys();
    if (this.#secrets.size > S3_CREDENTIALS_KEPT_MAX && oldest !== undefined) this.#secrets.delete(oldest);
  }

  keyOf(url: string, now: Date): string | undefined {
    if (!url.startsWith(this.#prefix)) return undefined;
    const [key = '', query = '', ...rest] = url.slice(this.#prefix.length).split('?');
    if (!isObjectKey(key) || rest.length > 0) return undefined;
    const parameters = new URLSearchParams(query);
    const [accessKeyId = ''] = parameters.get('X-Amz-Credential')?.split('/') ?? [];
    const secret = this.#secrets.get(accessKeyId);
    const signature = Buffer.from(parameters.get('X-Amz-Signature') ?? '');
    if (secret === undefined || signature.length !== 64 || isExpired(parameters, now)) return undefined;
    const expected = presignedSignature(`${this.#prefix}${key}`, query, secret);
    return timingSafeEqual(signature, Buffer.from(expected)) ? key : undefined;
  }
}

function isExpired(parameters: URLSearchParams, now: Date): boolean {
  const [, ...date] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(parameters.get('X-Amz-Date') ?? '') ?? [];
  const [year = Number.NaN, month = 1, ...rest] = date.map(Number);
  const expiresMs = Date.UTC(year, month - 1, ...rest) + Number(parameters.get('X-Amz-Expires')) * 1000;
  // Not "<=": a date that cannot be read compares as false.
  return !(now.getTime() < expiresMs);
}

/** Signature Version 4 of a GET of this address, with whatever the query itself says of date, scope and lifetime. */
export function presignedSignature(address: string, query: string, secret: string): string {
  const parts = query.split('&').filter((part) => !part.startsWith('X-Amz-Signature='));
  const parameters = new URLSearchParams(query);
  const [, ...scope] = parameters.get('X-Amz-Credential')?.split('/') ?? [];
  const { host, pathname } = new URL(address);
  const request = ['GET', pathname, parts.sort().join('&'), `host:${host}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const digest = createHash('sha256').update(request).digest('hex');
  const text = ['AWS4-HMAC-SHA256', parameters.get('X-Amz-Date'), scope.join('/'), digest].join('\n');
  const key = scope.reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${secret}`);
  return hmac(key, text).toString('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
