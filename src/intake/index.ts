/**
 * Media on its way in and out of the object store: judged by its bytes, streamed, measured, and written down with the day
 * on which it must go. Hides how what nobody came to own is found and cleaned away.
 */
export { CleanUp } from './clean-up.ts';
export type { IntakeParts } from './parts.ts';
export { deleteObjectsAt, findObject, keepObjectsUntil, recordObjects, type StoredObject } from './store.ts';
export { type StoredPiece, storeMedia } from './store-media.ts';
