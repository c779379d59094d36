/** Files that callers put here for later requests: a day, a quota, and a link. Hides how they are stored and judged. */
export { deleteFile, getFile, listFiles, readFile } from './files.ts';
export { discardFile, keepFile, receiveFile } from './keep-file.ts';
export { forgetFiles, type LinkedFile } from './store.ts';
