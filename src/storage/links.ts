import { createHmac, timingSafeEqual } from 'node:crypto';
import { unixSeconds } from '../clock.ts';
import { deriveKeys, type RootSecrets } from '../seal.ts';
import { assertKey, dispositionOf, isObjectKey, type LinkOptions } from './object-store.ts';

/** What a link that holds says. */
export interface OpenedLink {
  readonly key: string;
  readonly mimeType: string;
  readonly disposition: string;
  readonly secondsLeft: number;
}

const PATH = '/media/';
const LINK = /^\/media\/([^?]+)\?issued=\d{1,12}&expires=(\d{1,12})&type=([^&]+)&name=([^&]+)(?=&signature=[\w-]{43}$)/;

/**
 * Links that the gateway itself serves. The signature covers the address as it is written, so that no other spelling
 * of the same thing passes.
 */
export class Links {
  readonly #publicUrl: string;
  readonly #key: Buffer;
  /** Verifies links that were signed before the root secret changed. */
  readonly #previousKey: Buffer | undefined;

  constructor(publicUrl: string, secrets: RootSecrets) {
    this.#publicUrl = publicUrl;
    [this.#key, this.#previousKey] = deriveKeys(secrets, 'media links');
  }

  make(key: string, { mimeType, fileName, expiresAt, now }: LinkOptions): string {
    assertKey(key);
    dispositionOf(fileName);
    const times = `issued=${unixSeconds(now)}&expires=${unixSeconds(expiresAt)}`;
    const text = `${PATH}${key}?${times}&type=${encodeURIComponent(mimeType)}&name=${fileName}`;
    return `${this.#publicUrl}${text}&signature=${signatureOf(this.#key, text)}`;
  }

  /** `target` is path and query as they came over the wire. */
  open(target: string, now: Date): OpenedLink | undefined {
    const [text, key = '', expires, type = '', name = ''] = LINK.exec(target) ?? [];
    if (text === undefined) return undefined;
    const signature = target.slice(text.length + '&signature='.length);
    if (!this.#isSigned(text, signature)) return undefined;
    const secondsLeft = Number(expires) - now.getTime() / 1000;
    if (secondsLeft <= 0 || !isObjectKey(key)) return undefined;
    return { key, mimeType: decodeURIComponent(type), disposition: dispositionOf(name), secondsLeft };
  }

  keyOf(url: string, now: Date): string | undefined {
    return url.startsWith(this.#publicUrl + PATH) ? this.open(url.slice(this.#publicUrl.length), now)?.key : undefined;
  }

  #isSigned(text: string, signature: string): boolean {
    if (isSignature(this.#key, text, signature)) return true;
    return this.#previousKey !== undefined && isSignature(this.#previousKey, text, signature);
  }
}

/** Compared as text: two spellings of one signature in base64 would both decode to it. */
function isSignature(key: Buffer, text: string, signature: string): boolean {
  return timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(key, text)));
}

function signatureOf(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}
