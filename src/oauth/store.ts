import type { Db, Queries, Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';

export interface OauthClient {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  /** A confidential client proves itself with a secret as well as PKCE. */
  readonly confidential: boolean;
  readonly homePage: string | null;
  readonly logo: string | null;
  /** Whether it may have a person sign in on another device (RFC 8628). */
  readonly deviceFlow: boolean;
  /** Whether it may ask what its tokens are worth (RFC 7662). */
  readonly introspection: boolean;
  readonly createdAt: Date;
}

const COLUMNS = `id, name, redirect_uris as "redirectUris", scopes, secret_digest is not null as confidential,
  home_page as "homePage", logo, device_flow as "deviceFlow", introspection, created_at as "createdAt"`;

export async function insertClient(tx: Tx, client: OauthClient, secretDigest: Buffer | null): Promise<void> {
  await tx.run(
    `insert into oauth_clients (id, name, redirect_uris, scopes, secret_digest, home_page, logo, device_flow, introspection,
       created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      client.id,
      client.name,
      client.redirectUris,
      client.scopes,
      secretDigest,
      client.homePage,
      client.logo,
      client.deviceFlow,
      client.introspection,
      client.createdAt,
    ],
  );
}

export async function saveClient(tx: Tx, client: OauthClient): Promise<void> {
  await tx.run(
    `update oauth_clients set name = $2, redirect_uris = $3, scopes = $4, home_page = $5, logo = $6, device_flow = $7,
       introspection = $8 where id = $1`,
    [
      client.id,
      client.name,
      client.redirectUris,
      client.scopes,
      client.homePage,
      client.logo,
      client.deviceFlow,
      client.introspection,
    ],
  );
}

/** Undefined also for one that was removed. */
export async function findClient(queries: Queries, id: string): Promise<OauthClient | undefined> {
  const [client] = await queries.rows<OauthClient>(
    `select ${COLUMNS} from oauth_clients where id = $1 and deleted_at is null`,
    [id],
  );
  return client;
}

export async function lockClient(tx: Tx, id: string): Promise<OauthClient | undefined> {
  const [client] = await tx.rows<OauthClient>(
    `select ${COLUMNS} from oauth_clients where id = $1 and deleted_at is null for update`,
    [id],
  );
  return client;
}

export async function findClientWithSecret(
  queries: Queries,
  id: string,
): Promise<(OauthClient & { readonly secretDigest: Buffer | null }) | undefined> {
  const [client] = await queries.rows<OauthClient & { secretDigest: Buffer | null }>(
    `select ${COLUMNS}, secret_digest as "secretDigest" from oauth_clients where id = $1 and deleted_at is null`,
    [id],
  );
  return client;
}

/** Throws `invalid_parameter` when `after` is no client, so that a list never seems to end where one was removed. */
export async function listClients(db: Db, limit: number, after: string | undefined): Promise<OauthClient[]> {
  const clients = await db.rows<OauthClient>(
    `select ${COLUMNS} from oauth_clients
     where deleted_at is null
       and ($2::text is null or (created_at, id) <
         (select created_at, id from oauth_clients where id = $2 and deleted_at is null))
     order by created_at desc, id desc limit $1`,
    [limit, after ?? null],
  );
  if (clients.length === 0 && after !== undefined && !(await isClient(db, after))) {
    throw new ApiError('invalid_parameter', { message: '"after" must be the id of an OAuth client.', param: 'after' });
  }
  return clients;
}

async function isClient(db: Db, id: string): Promise<boolean> {
  return (await findClient(db, id)) !== undefined;
}

/** Its row stays, for the records that name it. */
export async function markClientDeleted(tx: Tx, id: string, now: Date): Promise<boolean> {
  return (await tx.run('update oauth_clients set deleted_at = $2 where id = $1 and deleted_at is null', [id, now])) > 0;
}
