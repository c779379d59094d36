import { copyFile, open, stat, truncate } from 'node:fs/promises';
import { hasCode } from './binaries.ts';
import { LOG_BYTES_MAX, OUTPUT_BYTES_MAX, OUTPUT_LINES_MAX } from './settings.ts';

/**
 * The server writes its standard error to a file of its own, not to a pipe: it must be able to speak after the gateway
 * that started it was killed.
 */
export async function sizeOfLog(path: string): Promise<number> {
  return stat(path).then(
    (stats) => stats.size,
    () => 0,
  );
}

/** Keeps the file within its bound. Emptied in place, since the server goes on appending to the same file. */
export async function trimLog(path: string): Promise<void> {
  if ((await sizeOfLog(path)) <= LOG_BYTES_MAX) return;
  await copyFile(path, `${path}.1`);
  await truncate(path, 0);
}

/** The last lines written since the file had `fromByte` bytes. */
export async function readLog(path: string, fromByte: number): Promise<readonly string[]> {
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    const start = Math.max(size < fromByte ? 0 : fromByte, size - OUTPUT_BYTES_MAX);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(OUTPUT_BYTES_MAX), 0, OUTPUT_BYTES_MAX, start);
    return lastLines(buffer.toString('utf8', 0, bytesRead));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

export function lastLines(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(-OUTPUT_LINES_MAX);
}
