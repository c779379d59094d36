import { createHmac } from 'node:crypto';
import { type ConfigDocument, type DocumentInForce, maskDocument } from '../configuration/index.ts';
import { deriveKey, deriveKeys, type RootSecrets, seal, unsealWithAny } from '../seal.ts';
import type { ConfigVersion } from './store.ts';

/** The stored secrets cannot be opened with this process's root secrets. */
export class SealedWithAnotherSecret extends Error {}

/** The upstream secrets of a stored version, by upstream. Throws SealedWithAnotherSecret. */
export function openSecrets(root: RootSecrets, { sealedSecrets }: ConfigVersion): Map<string, string> {
  const keys = deriveKeys(root, 'upstream secrets');
  try {
    return new Map(Object.entries(sealedSecrets).map(([id, sealed]) => [id, unsealWithAny(keys, id, sealed)]));
  } catch (error) {
    throw new SealedWithAnotherSecret(
      'The upstream secrets in the database were sealed with another TOLLGATE_SECRET. Start with that one, or name it ' +
        'in TOLLGATE_SECRET_PREVIOUS.',
      { cause: error },
    );
  }
}

export function sealSecrets(root: RootSecrets, secrets: ReadonlyMap<string, string>): Record<string, string> {
  const key = deriveKey(root.rootSecret, 'upstream secrets');
  return Object.fromEntries([...secrets].map(([id, secret]) => [id, seal(key, id, secret)]));
}

/**
 * What a document and its secrets come to, by the current root secret and then by the previous one: a stored digest may
 * be of either. Keyed, so that a stored digest tells nothing about the secrets in it.
 */
export function digestsOf(root: RootSecrets, { document, secrets }: DocumentInForce): readonly [string, ...string[]] {
  const content = digestedContent(document, secrets);
  const digest = (key: Buffer) => createHmac('sha256', key).update(content).digest('hex');
  const [current, ...others] = deriveKeys(root, 'config digest');
  return [digest(current), ...others.map(digest)];
}

function digestedContent(document: ConfigDocument, secrets: ReadonlyMap<string, string>): string {
  return JSON.stringify([maskDocument(document), [...secrets].sort(([a], [b]) => (a < b ? -1 : 1))]);
}
