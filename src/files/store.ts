import type { Db, Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';

/** A file that a caller has put here for later requests. */
export interface StoredFile {
  readonly id: string;
  readonly accountId: string;
  readonly objectKey: string;
  readonly fileName: string;
  readonly purpose: string | undefined;
  readonly mimeType: string;
  readonly bytes: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface LinkedFile extends StoredFile {
  readonly url: string;
}

export async function insertFile(tx: Tx, file: StoredFile): Promise<void> {
  await tx.run(
    `insert into files (id, account_id, object_key, filename, purpose, mime_type, bytes, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      file.id,
      file.accountId,
      file.objectKey,
      file.fileName,
      file.purpose,
      file.mimeType,
      file.bytes,
      file.createdAt,
      file.expiresAt,
    ],
  );
}

/** How much an account keeps. Only right under the account's lock. */
export async function liveFiles(tx: Tx, accountId: string, now: Date): Promise<{ files: number; bytes: number }> {
  const [row] = await tx.rows<{ files: number; bytes: bigint }>(
    `select count(*)::int as files, coalesce(sum(bytes), 0)::bigint as bytes from files
     where account_id = $1 and expires_at > $2`,
    [accountId, now],
  );
  return { files: row?.files ?? 0, bytes: Number(row?.bytes ?? 0n) };
}

export interface FilePage {
  readonly limit: number;
  readonly after: string | undefined;
}

const COLUMNS = `id, account_id as "accountId", object_key as "objectKey", filename as "fileName", purpose,
  mime_type as "mimeType", bytes, created_at as "createdAt", expires_at as "expiresAt"`;

interface FileRow extends Omit<StoredFile, 'bytes' | 'purpose'> {
  readonly bytes: bigint;
  readonly purpose: string | null;
}

/** Newest first. Throws `invalid_parameter` when `after` is no file that this account still keeps. */
export async function selectFiles(
  db: Db,
  accountId: string,
  { limit, after }: FilePage,
  now: Date,
): Promise<StoredFile[]> {
  const rows = await db.rows<FileRow>(
    `select ${COLUMNS} from files
     where account_id = $1 and expires_at > $2 and ($3::text is null
       or (created_at, id) < (select created_at, id from files where id = $3 and account_id = $1))
     order by created_at desc, id desc limit $4`,
    [accountId, now, after ?? null, limit],
  );
  if (rows.length === 0 && after !== undefined && !(await isKept(db, accountId, after))) {
    throw new ApiError('invalid_parameter', { message: '"after" must be the id of a file.', param: 'after' });
  }
  return rows.map(fileOf);
}

/** Undefined alike for what is not there, what has expired and what is another account's. */
export async function selectFile(db: Db, accountId: string, id: string, now: Date): Promise<StoredFile | undefined> {
  const [row] = await db.rows<FileRow>(
    `select ${COLUMNS} from files where id = $1 and account_id = $2 and expires_at > $3`,
    [id, accountId, now],
  );
  return row && fileOf(row);
}

async function isKept(db: Db, accountId: string, id: string): Promise<boolean> {
  return (await db.rows('select from files where id = $1 and account_id = $2', [id, accountId])).length > 0;
}

function fileOf(row: FileRow): StoredFile {
  return { ...row, bytes: Number(row.bytes), purpose: row.purpose ?? undefined };
}

/** Undefined alike for what is not there, what has expired and what is another account's. */
export async function deleteFileRow(tx: Tx, accountId: string, id: string, now: Date): Promise<StoredFile | undefined> {
  const [row] = await tx.rows<FileRow>(
    `delete from files where id = $1 and account_id = $2 and expires_at > $3 returning ${COLUMNS}`,
    [id, accountId, now],
  );
  return row && fileOf(row);
}

/** Rows of files whose objects have their own day to go. */
export function forgetFiles(queries: Pick<Tx, 'run'>, now: Date): Promise<number> {
  return queries.run('delete from files where expires_at <= $1', [now]);
}
