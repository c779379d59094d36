import { ApiError } from '../errors.ts';
import type { ObjectDeps } from './deps.ts';
import { findObjects } from './store.ts';
import type { StoredMedia } from './store-input.ts';

/**
 * What one of our own links names: it is read from the store, and only for whom it belongs to. Undefined for any other
 * URL. Throws `invalid_input_url` for what is not theirs or not there any more.
 */
export async function linkedObject(
  { objects, db, clock }: Pick<ObjectDeps, 'objects' | 'db' | 'clock'>,
  accountId: string,
  url: string,
): Promise<StoredMedia | undefined> {
  const key = objects.keyOfLink(url, clock.now());
  if (key === undefined) return undefined;
  const found = (await findObjects(db, accountId, [key], clock.now())).get(key);
  // What was stored for one request ends with it, so no other may rely on it.
  if (found === undefined || found.bytes === 0) throw new ApiError('invalid_input_url');
  return { key, mimeType: found.mimeType, bytes: found.bytes };
}
