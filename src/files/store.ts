import type { Tx } from '../db/index.ts';

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

/** Rows of files whose objects have their own day to go. */
export function forgetFiles(queries: Pick<Tx, 'run'>, now: Date): Promise<number> {
  return queries.run('delete from files where expires_at <= $1', [now]);
}
