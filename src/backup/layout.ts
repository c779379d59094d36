import { z } from 'zod';

/** Format 1 was that of unreleased versions. */
export const FORMAT = 2;
export const HEAD = 'tollgate-backup.json';
export const MANIFEST = 'manifest.json';
export const SECRET_NAMES = ['secret', 'admin-token'] as const;
export const ROWS = /^database\/([a-z_][a-z0-9_]*)\/\d{6}\.json\.gz$/;
export const OBJECT_PREFIX = 'objects/';
/** Of the two JSON entries, which are read whole. */
export const JSON_ENTRY_BYTES_MAX = 16 * 1024 * 1024;

/** The first entry: what the archive is of. */
export const headSchema = z.strictObject({
  format: z.literal(FORMAT),
  release: z.string(),
  made_at: z.string(),
  /** The migrations that made its tables, in order. */
  migrations: z.array(z.strictObject({ number: z.int(), name: z.string(), digest: z.string() })),
  /** Each table's columns in their order: a row is written as one composite value. */
  tables: z.record(z.string(), z.array(z.string())),
  /** The last value that each sequence gave out; null where it gave none. */
  sequences: z.record(z.string(), z.string().nullable()),
});
export type Head = z.infer<typeof headSchema>;

/** The last entry: what must have come before it. */
export const manifestSchema = z.strictObject({
  rows: z.int(),
  objects: z.int(),
  /** SHA-256 of every byte before this entry. */
  sha256: z.string(),
});
export type Manifest = z.infer<typeof manifestSchema>;

export function rowsName(table: string, part: number): string {
  return `database/${table}/${String(part).padStart(6, '0')}.json.gz`;
}
