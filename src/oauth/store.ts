import type { Db, Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';

export interface OauthClient {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  /** A confidential client proves itself with a secret as well as PKCE. */
  readonly confidential: boolean;
  readonly createdAt: Date;
}

const COLUMNS = `id, name, redirect_uris as "redirectUris", scopes, secret_digest is not null as confidential,
  created_at as "createdAt"`;

export async function insertClient(tx: Tx, client: OauthClient, secretDigest: Buffer | null): Promise<void> {
  await tx.run(
    `insert into oauth_clients (id, name, redirect_uris, scopes, secret_digest, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [client.id, client.name, client.redirectUris, client.scopes, secretDigest, client.createdAt],
  );
}

/** Throws `invalid_parameter` when `after` is no client, so that a list never seems to end where one was removed. */
export async function listClients(db: Db, limit: number, after: string | undefined): Promise<OauthClient[]> {
  const clients = await db.rows<OauthClient>(
    `select ${COLUMNS} from oauth_clients
     where $2::text is null or (created_at, id) < (select created_at, id from oauth_clients where id = $2)
     order by created_at desc, id desc limit $1`,
    [limit, after ?? null],
  );
  if (clients.length === 0 && after !== undefined && !(await isClient(db, after))) {
    throw new ApiError('invalid_parameter', { message: '"after" must be the id of an OAuth client.', param: 'after' });
  }
  return clients;
}

async function isClient(db: Db, id: string): Promise<boolean> {
  return (await db.rows('select from oauth_clients where id = $1', [id])).length > 0;
}

export async function deleteClientRow(tx: Tx, id: string): Promise<boolean> {
  return (await tx.run('delete from oauth_clients where id = $1', [id])) > 0;
}
