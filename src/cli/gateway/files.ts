import { createWriteStream } from 'node:fs';
import { parse } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../command.ts';

/** Where a result goes: what -o names, with `-2` and so on before the ending of further ones; a dash is standard output. */
export function fileName(output: string, ordinal: number): string {
  if (ordinal === 0 || output === '-') return output;
  const { dir, name, ext } = parse(output);
  const next = `${name}-${ordinal + 1}${ext}`;
  return dir === '' ? next : `${dir}/${next}`;
}

const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/aac': 'aac',
};

/** The usual ending of a name for this kind of media. */
export function endingOf(mimeType: string): string {
  const [kind = ''] = mimeType.split(';');
  return ENDINGS[kind.trim()] ?? 'bin';
}

/** Streams to a file or to standard output; both may be larger than the memory. */
export async function saveStream(stream: Readable, path: string): Promise<void> {
  if (path === '-') {
    await pipeline(stream, process.stdout, { end: false });
    return;
  }
  try {
    await pipeline(stream, createWriteStream(path));
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'path' in error)) throw error;
    throw new CommandError(`${path} cannot be written: ${error.message}.`, { cause: error });
  }
}
