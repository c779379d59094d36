import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { newId } from '../ids.ts';
import { lockAccounts } from '../ledger/index.ts';
import {
  FILE_BYTES_MAX,
  FILE_KEPT_MS,
  FILES_BYTES_PER_ACCOUNT_MAX,
  FILES_PER_ACCOUNT_MAX,
  UNOWNED_KEPT_MS,
} from '../limits.ts';
import { Unreadable } from '../media/index.ts';
import { deleteObjectsAt, recordObjects, storeMedia } from '../objects/index.ts';
import { type ObjectStore, ObjectTooLarge, StorageUnavailable } from '../storage/index.ts';
import { insertFile, type LinkedFile, liveFiles, type StoredFile } from './store.ts';

export interface FileDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly objects: ObjectStore;
}

/** Bytes in the store that no file owns yet. */
export interface ReceivedFile {
  readonly objectKey: string;
  readonly fileName: string;
  readonly mimeType: string;
  readonly bytes: number;
}

/** Takes the bytes of a file into the store. Throws ApiError, and then they go again. */
export async function receiveFile(
  { db, clock, objects }: FileDeps,
  accountId: string,
  fileName: string,
  body: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<ReceivedFile> {
  const objectKey = `files/${randomBytes(20).toString('hex')}`;
  const deleteAt = new Date(clock.nowMs() + UNOWNED_KEPT_MS);
  await recordObjects(db, [{ key: objectKey, accountId, mimeType: '', bytes: 0, deleteAt }]);
  try {
    const { mimeType, bytes } = await storeMedia({ objects }, objectKey, body, {
      bytesMax: FILE_BYTES_MAX,
      signal,
      kinds: ['image', 'audio', 'video'],
      refusal: (reason) => new ApiError(reason === 'empty' ? 'empty_file' : 'unsupported_file_format'),
    });
    return { objectKey, fileName: safeName(fileName), mimeType, bytes };
  } catch (error) {
    await discardFile({ db, clock, objects }, objectKey);
    throw refusalFor(error);
  }
}

function refusalFor(error: unknown): unknown {
  if (error instanceof ObjectTooLarge) return new ApiError('file_too_large', { cause: error });
  if (error instanceof Unreadable) return new ApiError('unsupported_file_format', { cause: error });
  if (error instanceof StorageUnavailable) return new ApiError('job_service_unavailable', { cause: error });
  return error;
}

/** If this fails, it goes when its early day has come. */
export async function discardFile({ db, clock }: FileDeps, objectKey: string): Promise<void> {
  await deleteObjectsAt(db, [objectKey], clock.now()).catch(() => undefined);
}

/** Gives received bytes to an account, for a day. Throws `file_quota_exceeded`. */
export async function keepFile(
  { db, clock, objects }: FileDeps,
  accountId: string,
  received: ReceivedFile,
  purpose: string | undefined,
): Promise<LinkedFile> {
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + FILE_KEPT_MS);
  const file = { id: newId('file'), accountId, purpose, createdAt, expiresAt, ...received };
  const { objectKey: key, mimeType, bytes } = received;
  const url = await linkTo({ objects, clock }, file);
  await db.transaction(async (tx) => {
    await lockAccounts(tx, [accountId]);
    const live = await liveFiles(tx, accountId, createdAt);
    if (live.files >= FILES_PER_ACCOUNT_MAX || live.bytes + bytes > FILES_BYTES_PER_ACCOUNT_MAX) {
      throw new ApiError('file_quota_exceeded');
    }
    await insertFile(tx, file);
    await recordObjects(tx, [{ key, accountId, mimeType, bytes, deleteAt: expiresAt }]);
  });
  return { ...file, url };
}

/** Whatever the file is called, its link has a name that any header can hold. */
export function linkTo({ objects, clock }: Pick<FileDeps, 'objects' | 'clock'>, file: StoredFile): Promise<string> {
  const { id: fileName, mimeType, expiresAt } = file;
  return objects.link(file.objectKey, { mimeType, fileName, expiresAt, now: clock.now() });
}

const NAME_BYTES_MAX = 255;

/** The last part of a path, of letters that no header, shell or folder takes for something else. */
function safeName(given: string): string {
  const name = (given.split(/[\\/]/).at(-1) ?? '').replace(/[^\p{L}\p{N}._ -]/gu, '_').replace(/^\.+/, '');
  let safe = name.trim();
  while (Buffer.byteLength(safe) > NAME_BYTES_MAX) safe = Array.from(safe).slice(0, -1).join('');
  return safe === '' ? 'file' : safe;
}
