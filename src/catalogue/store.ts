import type { ConfigDocument } from '../configuration/index.ts';
import type { Db, Queries, Tx } from '../db/index.ts';

export type ConfigSource = 'file' | 'built-in' | 'operator';

export interface ConfigVersion {
  readonly version: bigint;
  readonly source: ConfigSource;
  readonly document: ConfigDocument;
  readonly sealedSecrets: Readonly<Record<string, string>>;
  readonly digest: string;
  readonly appliedAt: Date;
  readonly actor: string;
  /** How many lines a comparison with the version before it has. */
  readonly changeCount: number;
}

/** What a list tells of a version, without its document. */
export type VersionSummary = Pick<ConfigVersion, 'version' | 'source' | 'appliedAt' | 'actor' | 'changeCount'>;

const SUMMARY = 'version, source, applied_at as "appliedAt", actor, change_count as "changeCount"';
const COLUMNS = `${SUMMARY}, document, sealed_secrets as "sealedSecrets", digest`;

/**
 * Held to the end of the transaction: configurations are applied one after the other. An operator had rather wait than be
 * refused, so only the limit of every statement counts, which outlasts a process that stands still with the lock.
 */
export async function lockConfig(tx: Tx): Promise<void> {
  await tx.run('set local lock_timeout = 0');
  await tx.run('lock table config_versions in share row exclusive mode');
}

export async function newestVersion(queries: Queries): Promise<ConfigVersion | undefined> {
  const [row] = await queries.rows<ConfigVersion>(
    `select ${COLUMNS} from config_versions order by version desc limit 1`,
  );
  return row;
}

export async function newestVersionFrom(tx: Tx, source: ConfigSource): Promise<ConfigVersion | undefined> {
  const [row] = await tx.rows<ConfigVersion>(
    `select ${COLUMNS} from config_versions where source = $1 order by version desc limit 1`,
    [source],
  );
  return row;
}

/** The one that follows a number, and so with numbers that rise, each in its turn. */
export async function nextVersion(db: Db, after: bigint): Promise<ConfigVersion | undefined> {
  const [row] = await db.rows<ConfigVersion>(
    `select ${COLUMNS} from config_versions where version > $1 order by version limit 1`,
    [after],
  );
  return row;
}

export async function replaceSeals(
  db: Db,
  version: bigint,
  { sealedSecrets, digest }: Pick<ConfigVersion, 'sealedSecrets' | 'digest'>,
): Promise<number> {
  return db.run('update config_versions set sealed_secrets = $2, digest = $3 where version = $1', [
    version,
    sealedSecrets,
    digest,
  ]);
}

export async function findVersion(queries: Queries, version: bigint): Promise<ConfigVersion | undefined> {
  const [row] = await queries.rows<ConfigVersion>(`select ${COLUMNS} from config_versions where version = $1`, [
    version,
  ]);
  return row;
}

/** Newest first. */
export async function listVersions(db: Db, limit: number, after: bigint | undefined): Promise<VersionSummary[]> {
  return db.rows<VersionSummary>(
    `select ${SUMMARY} from config_versions where $2::bigint is null or version < $2 order by version desc limit $1`,
    [limit, after ?? null],
  );
}

export async function insertVersion(tx: Tx, version: Omit<ConfigVersion, 'version'>): Promise<bigint> {
  const [row] = await tx.rows<{ version: bigint }>(
    `insert into config_versions (source, document, sealed_secrets, digest, applied_at, actor, change_count)
     values ($1, $2, $3, $4, $5, $6, $7) returning version`,
    [
      version.source,
      version.document,
      version.sealedSecrets,
      version.digest,
      version.appliedAt,
      version.actor,
      version.changeCount,
    ],
  );
  if (row === undefined) throw new Error('the new configuration version was not returned');
  return row.version;
}

/** Names that are known already keep the time at which they were first sold. */
export async function insertModels(tx: Tx, ids: readonly string[], now: Date): Promise<void> {
  await tx.run(`insert into models (id, created_at) select unnest($1::text[]), $2 on conflict do nothing`, [ids, now]);
}

export async function modelCreationTimes(queries: Queries, ids: readonly string[]): Promise<Map<string, Date>> {
  const rows = await queries.rows<{ id: string; createdAt: Date }>(
    'select id, created_at as "createdAt" from models where id = any($1)',
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row.createdAt]));
}

/** Moves the time only when the content is another. */
export async function savePublicList(tx: Tx, digest: string, now: Date): Promise<void> {
  await tx.run(
    `insert into public_list (digest, updated_at) values ($1, $2)
     on conflict (only_row) do update set digest = excluded.digest, updated_at = excluded.updated_at
     where public_list.digest <> excluded.digest`,
    [digest, now],
  );
}

export async function publicListSince(queries: Queries): Promise<Date | undefined> {
  const [row] = await queries.rows<{ since: Date }>('select updated_at as since from public_list');
  return row?.since;
}

/** What was known of these upstreams was known of another account; of those that are gone nothing need be. */
export async function forgetBreakers(tx: Tx, changed: readonly string[], configured: readonly string[]): Promise<void> {
  await tx.run('delete from upstream_breakers where upstream_id = any($1) or upstream_id <> all($2)', [
    changed,
    configured,
  ]);
}
