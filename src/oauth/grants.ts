import { type Actor, recordChange } from '../audit/index.ts';
import { creditsToNumber } from '../credits.ts';
import type { Tx } from '../db/index.ts';
import { ApiError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { OauthDeps } from './deps.ts';
import {
  type GrantFilter,
  lockSpendingRole,
  markRevoked,
  type OauthGrant,
  type SpendLimit,
  saveGrant,
  saveLimit,
} from './grants-store.ts';
import { deleteRecordsOfGrants } from './records-store.ts';

export interface Consent extends SpendLimit {
  readonly clientId: string;
  readonly accountId: string;
  readonly personId: string;
  readonly scopes: readonly string[];
}

/** Part of a larger change. Throws `insufficient_role` when the person may not spend of the account. */
export async function giveConsent(tx: Tx, deps: OauthDeps, by: Actor, consent: Consent): Promise<OauthGrant> {
  if (!(await lockSpendingRole(tx, consent.personId, consent.accountId))) throw new ApiError('insufficient_role');
  const now = deps.clock.now();
  const proposed = { ...consent, id: newId('oag'), createdAt: now, updatedAt: now, lastUsedAt: null };
  const grant = await saveGrant(tx, proposed);
  const detail = {
    client: grant.clientId,
    account: grant.accountId,
    person: grant.personId,
    scopes: grant.scopes,
    credit_limit: grant.creditLimit === null ? null : creditsToNumber(grant.creditLimit),
    credit_limit_reset: grant.creditLimitReset,
  };
  const action = grant.id === proposed.id ? 'consent.give' : 'consent.change';
  await recordChange(tx, by, { at: now, action, target: grant.id, detail });
  // Processes that know the grant's limit by its tokens forget it.
  await deps.bus.announce(tx, 'grant', grant.id);
  return grant;
}

/** Which of the two is left out stays as it is. */
export type LimitChange = { readonly [Name in keyof SpendLimit]?: SpendLimit[Name] | undefined };

/** Resolves when no process admits by the old limit any more. Throws `grant_not_found` as `revokeGrant` does. */
export async function changeSpendLimit(
  deps: OauthDeps,
  by: Actor,
  grant: GrantFilter & { readonly id: string },
  change: LimitChange,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const at = deps.clock.now();
    const limit = await saveLimit(tx, grant, change, at);
    if (limit === undefined) throw new ApiError('grant_not_found');
    const detail = {
      credit_limit: limit.creditLimit === null ? null : creditsToNumber(limit.creditLimit),
      credit_limit_reset: limit.creditLimitReset,
    };
    await recordChange(tx, by, { at, action: 'consent.limit', target: grant.id, detail });
    await deps.bus.announce(tx, 'grant', grant.id);
  });
  await deps.bus.heardByAll();
}

/**
 * Ends a grant with all its codes and tokens. Resolves when no process accepts them any more. Throws `grant_not_found`;
 * with an account or a person, also for a grant of another.
 */
export async function revokeGrant(
  deps: OauthDeps,
  by: Actor,
  id: string,
  of: Omit<GrantFilter, 'clientId'> = {},
): Promise<void> {
  const revoked = await deps.db.transaction((tx) => revokeIn(tx, deps, by, { ...of, id }));
  if (revoked === 0) throw new ApiError('grant_not_found');
  await deps.bus.heardByAll();
}

/** Part of a larger change, after which `heardByAll` is to be waited for. Tells how many there were. */
export async function revokeIn(
  tx: Tx,
  { bus, clock }: OauthDeps,
  by: Actor,
  of: GrantFilter & { readonly id?: string | undefined },
): Promise<number> {
  const now = clock.now();
  const grants = await markRevoked(tx, of, now);
  const ids = grants.map(({ id }) => id);
  await deleteRecordsOfGrants(tx, ids);
  for (const { id, clientId, accountId, personId } of grants) {
    const detail = { client: clientId, account: accountId, person: personId };
    await recordChange(tx, by, { at: now, action: 'consent.revoke', target: id, detail });
    await bus.announce(tx, 'grant', id);
  }
  return grants.length;
}
