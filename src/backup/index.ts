/**
 * A deployment in one file: a tar archive of every table as of one snapshot, the stored media, and the secrets that
 * open and sign them. Hides the archive's layout and digest, how rows are copied without knowing their tables, and how
 * a broken archive is told before anything is written.
 */
export { type Archive, ArchiveError, openArchive } from './archive.ts';
export { dumpDatabase, type StoredKey } from './dump.ts';
export { loadDatabase } from './load.ts';
export { ArchiveWriter } from './writer.ts';
