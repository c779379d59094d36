import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import {
  HEAD,
  type Head,
  headSchema,
  JSON_ENTRY_BYTES_MAX,
  MANIFEST,
  type Manifest,
  manifestSchema,
  OBJECT_PREFIX,
  ROWS,
  SECRET_NAMES,
} from './layout.ts';
import { BLOCK_BYTES, paddingAfter, readTarHeader, type TarEntry } from './tar.ts';

/** The file is no whole archive. The message says what is wrong with it. */
export class ArchiveError extends Error {}

const READ_BYTES = 1024 * 1024;

interface PlacedEntry extends TarEntry {
  /** Where its content begins. */
  readonly at: number;
}

/** An archive that was read from end to end and found whole. */
export interface Archive {
  readonly head: Head;
  readonly manifest: Manifest;
  entries(): AsyncIterable<PlacedEntry>;
  body(entry: PlacedEntry): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** Checks every entry and the digest of the whole. Throws ArchiveError; then the file is closed again. */
export async function openArchive(path: string): Promise<Archive> {
  const file = await open(path, 'r').catch((error: Error) => {
    throw new ArchiveError(`${path} cannot be read: ${error.message}`);
  });
  try {
    const { head, manifest } = await checkWhole(file, path);
    return {
      head,
      manifest,
      entries: () => entriesOf(file, path),
      body: (entry) => readRange(file, entry.at, entry.at + entry.bytes),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function checkWhole(file: FileHandle, path: string): Promise<{ head: Head; manifest: Manifest }> {
  let head: Head | undefined;
  let objects = 0;
  for await (const entry of entriesOf(file, path)) {
    if (head === undefined) {
      if (entry.name !== HEAD) throw new ArchiveError(`${path} is no backup of Tollgate.`);
      head = headSchema.safeParse(await jsonOf(file, entry)).data;
      if (head === undefined)
        throw new ArchiveError(`${path} was made by a version that this one does not know. Restore it with that one.`);
    } else if (entry.name === MANIFEST) {
      const manifest = manifestSchema.safeParse(await jsonOf(file, entry)).data;
      const sha256 = await digestOf(file, entry.at - BLOCK_BYTES);
      if (manifest?.sha256 !== sha256 || manifest.objects !== objects) throw damaged(path);
      return { head, manifest };
    } else {
      if (entry.name.startsWith(OBJECT_PREFIX)) objects++;
      else if (!isKnown(entry.name, head)) throw damaged(path);
    }
  }
  throw new ArchiveError(`${path} is not whole: its end is missing. Make the backup again.`);
}

function isKnown(name: string, head: Head): boolean {
  const table = ROWS.exec(name)?.[1];
  return table === undefined ? SECRET_NAMES.some((known) => known === name) : Object.hasOwn(head.tables, table);
}

function damaged(path: string): ArchiveError {
  return new ArchiveError(`${path} is damaged: its content is not what was written. Use another copy of it.`);
}

async function* entriesOf(file: FileHandle, path: string): AsyncGenerator<PlacedEntry> {
  const { size } = await file.stat();
  for (let at = 0; at + BLOCK_BYTES <= size; ) {
    const block = await readFully(file, at, BLOCK_BYTES);
    if (block.every((byte) => byte === 0)) return;
    const header = readTarHeader(block);
    if (header === undefined) throw at === 0 ? new ArchiveError(`${path} is no backup of Tollgate.`) : damaged(path);
    const entry = { ...header, at: at + BLOCK_BYTES };
    if (entry.at + entry.bytes > size) return;
    yield entry;
    at = entry.at + entry.bytes + paddingAfter(entry.bytes);
  }
}

async function jsonOf(file: FileHandle, entry: PlacedEntry): Promise<unknown> {
  if (entry.bytes > JSON_ENTRY_BYTES_MAX) return undefined;
  try {
    return JSON.parse((await readFully(file, entry.at, entry.bytes)).toString('utf8'));
  } catch {
    return undefined;
  }
}

async function digestOf(file: FileHandle, end: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of readRange(file, 0, end)) hash.update(chunk);
  return hash.digest('hex');
}

async function* readRange(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end; at += READ_BYTES) yield await readFully(file, at, Math.min(READ_BYTES, end - at));
}

async function readFully(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  for (let have = 0; have < length; ) {
    const { bytesRead } = await file.read(buffer, have, length - have, at + have);
    if (bytesRead === 0) throw new ArchiveError('The backup became shorter while it was read.');
    have += bytesRead;
  }
  return buffer;
}
