/** Files that callers put here for later requests: a day, a quota, and a link. Hides how they are stored and judged. */
export { discardFile, type FileParts, keepFile, receiveFile } from './keep-file.ts';
export { forgetFiles, type StoredFile } from './store.ts';
