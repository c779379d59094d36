import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Secret } from './config.ts';

/** What a derived key is for; one purpose's key tells nothing of another's. */
export type KeyPurpose =
  | 'upstream secrets'
  | 'config digest'
  | 'media links'
  | 'csrf tokens'
  | 'oauth cookies'
  | 'sign-in attempts'
  | 'reasoning';

/** The root secret, and during a rotation the one before it, which still opens and verifies but makes nothing new. */
export interface RootSecrets {
  readonly rootSecret: Secret;
  readonly previousSecret?: Secret | undefined;
}

/** The keys of one purpose, the one to seal and sign with first. */
export function deriveKeys(
  { rootSecret, previousSecret }: RootSecrets,
  purpose: KeyPurpose,
): readonly [Buffer, ...Buffer[]] {
  const current = deriveKey(rootSecret, purpose);
  return previousSecret === undefined ? [current] : [current, deriveKey(previousSecret, purpose)];
}

export function deriveKey(rootSecret: Secret, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', rootSecret.reveal(), 'tollgate', purpose, 32));
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM; `context` is bound to the text, so a sealed value moved to another place does not open. */
export function seal(key: Buffer, context: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/** Tries each key. Throws when none of them, or another context or text, is the one that was sealed. */
export function unsealWithAny(keys: readonly Buffer[], context: string, sealed: string): string {
  const [key, ...others] = keys;
  if (key === undefined) throw new Error('no key opens what was sealed');
  try {
    return unseal(key, context, sealed);
  } catch (error) {
    if (others.length === 0) throw error;
    return unsealWithAny(others, context, sealed);
  }
}

/** Throws when the key, the context or the text is not the one that was sealed. */
export function unseal(key: Buffer, context: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
}
