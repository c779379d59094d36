/**
 * Where generated media and uploads lie: a folder whose signed links the gateway itself serves, or a bucket of an S3
 * store that serves its own. Both keep objects whole or not at all, hold at most a few parts of one in memory, and
 * throw StorageUnavailable when the disk or the store fails.
 */

export { FolderStore } from './folder-store.ts';
export type { OpenedLink } from './links.ts';
export {
  type ByteRange,
  type LinkOptions,
  type ObjectStore,
  ObjectTooLarge,
  type PutOptions,
  StorageUnavailable,
  type StoredObject,
} from './object-store.ts';
export { openObjectStore } from './open.ts';
export type { OpenedFile } from './opened-file.ts';
