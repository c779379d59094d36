import { createHash } from 'node:crypto';
import { type Actor, recordChange } from '../audit/index.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { newId, randomBase62 } from '../ids.ts';
import { deleteClientRow, insertClient, type OauthClient } from './store.ts';

export interface OauthParts {
  readonly db: Db;
  readonly clock: Clock;
}

export interface NewClient {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  readonly confidential: boolean;
}

/** Registration is the operator's act; a confidential client's secret is returned this once. */
export async function registerClient(
  { db, clock }: OauthParts,
  by: Actor,
  input: NewClient,
): Promise<{ client: OauthClient; secret: string | undefined }> {
  const secret = input.confidential ? `ocs_${randomBase62(48)}` : undefined;
  const client: OauthClient = { ...input, id: newId('client'), createdAt: clock.now() };
  const digest = secret === undefined ? null : createHash('sha256').update(secret).digest();
  await db.transaction(async (tx) => {
    await insertClient(tx, client, digest);
    const detail = { name: client.name, redirect_uris: client.redirectUris, scopes: client.scopes };
    await recordChange(tx, by, { at: client.createdAt, action: 'oauth_client.create', target: client.id, detail });
  });
  return { client, secret };
}

export async function removeClient({ db, clock }: OauthParts, by: Actor, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await deleteClientRow(tx, id))) throw new ApiError('client_not_found');
    await recordChange(tx, by, { at: clock.now(), action: 'oauth_client.delete', target: id, detail: {} });
  });
}
