/**
 * Media on its way in and out of the object store: judged by its bytes, streamed, measured, and written down with the day
 * on which it must go. Hides how objects without an owner are found and deleted.
 */
export { CleanUp } from './clean-up.ts';
export { linkedObject } from './linked-object.ts';
export { MemorySlots } from './memory-slots.ts';
export {
  deleteObjectsAt,
  type FoundObject,
  findObjects,
  keepObjectsUntil,
  recordObjects,
  releaseObject,
  type StoredObject,
} from './store.ts';
export {
  abandonInput,
  type BufferedMedia,
  discardInputs,
  type InputRules,
  readerOf,
  releaseMemory,
  type StoredMedia,
  storeInput,
  takeInput,
} from './store-input.ts';
export { storeMedia } from './store-media.ts';
