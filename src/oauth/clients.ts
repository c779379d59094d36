import { type Actor, recordChange } from '../audit/index.ts';
import { ApiError } from '../errors.ts';
import { newId, randomBase62 } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { OauthDeps } from './deps.ts';
import { digestOf } from './digest.ts';
import { revokeIn } from './grants.ts';
import { insertClient, lockClient, markClientDeleted, type OauthClient, saveClient } from './store.ts';

export type NewClient = Omit<OauthClient, 'id' | 'createdAt'>;

/** Registration is the operator's act; a confidential client's secret is returned this once. */
export async function registerClient(
  { db, clock }: OauthDeps,
  by: Actor,
  input: NewClient,
): Promise<{ client: OauthClient; secret: string | undefined }> {
  refuseOpenIntrospection(input);
  const secret = input.confidential ? `ocs_${randomBase62(48)}` : undefined;
  const client: OauthClient = { ...input, id: newId('client'), createdAt: clock.now() };
  await db.transaction(async (tx) => {
    await insertClient(tx, client, secret === undefined ? null : digestOf(secret));
    const change = { at: client.createdAt, action: 'oauth_client.create', target: client.id, detail: detailOf(client) };
    await recordChange(tx, by, change);
  });
  return { client, secret };
}

export type ClientChange = { readonly [Name in keyof Omit<NewClient, 'confidential'>]?: NewClient[Name] | undefined };

/** Throws `client_not_found`. A scope that was taken away is in no token from then on, also of grants that allow it. */
export async function updateClient(
  { db, clock }: OauthDeps,
  by: Actor,
  id: string,
  change: ClientChange,
): Promise<OauthClient> {
  return db.transaction(async (tx) => {
    const before = await lockClient(tx, id);
    if (before === undefined) throw new ApiError('client_not_found');
    const changes = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const after: OauthClient = { ...before, ...changes };
    refuseOpenIntrospection(after);
    await saveClient(tx, after);
    await recordChange(tx, by, { at: clock.now(), action: 'oauth_client.update', target: id, detail: detailOf(after) });
    return after;
  });
}

/** With every grant to it. Resolves when no process accepts its tokens any more. Throws `client_not_found`. */
export async function removeClient(deps: OauthDeps, by: Actor, id: string): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const now = deps.clock.now();
    if (!(await markClientDeleted(tx, id, now))) throw new ApiError('client_not_found');
    await revokeIn(tx, deps, by, { clientId: id });
    await recordChange(tx, by, { at: now, action: 'oauth_client.delete', target: id, detail: {} });
  });
  await deps.bus.heardByAll();
}

function refuseOpenIntrospection({ introspection, confidential }: NewClient): void {
  if (!introspection || confidential) return;
  const message = '"introspection" is for confidential applications, which prove who asks.';
  throw new ApiError('invalid_parameter', { message, param: 'introspection' });
}

function detailOf(client: NewClient): JsonObject {
  return {
    name: client.name,
    redirect_uris: client.redirectUris,
    scopes: client.scopes,
    home_page: client.homePage,
    logo: client.logo,
    device_flow: client.deviceFlow,
    introspection: client.introspection,
  };
}
