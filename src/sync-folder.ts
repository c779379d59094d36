import { open } from 'node:fs/promises';

/** Flushes a folder's entries to disk: without it a power cut could undo a file's creation, renaming or removal. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r');
  await folder.sync();
}
