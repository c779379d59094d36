import { createHash } from 'node:crypto';
import { isSecretText, newSecretText } from '../secret-text.ts';

const MARKER = 'sk-tg1-';

export function newApiKey(): string {
  return newSecretText(MARKER);
}

/** The first four of the random part: what is kept and shown of a key, so that a person can tell keys apart. */
export function apiKeyPrefix(key: string): string {
  return key.slice(MARKER.length, MARKER.length + 4);
}

export function isApiKeyShape(text: string): boolean {
  return isSecretText(MARKER, text);
}

export function apiKeyDigest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
