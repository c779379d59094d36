import { changeAccount, findAccount } from '../accounts/index.ts';
import { type Actor, recordChange } from '../audit/index.ts';
import type { Tx } from '../db/index.ts';
import type { GroupRights, OidcSettings } from '../oidc-settings.ts';
import type { PeopleDeps } from './deps.ts';
import { type IdentifiedPerson, mappedAccounts, saveMappedRole } from './identity-store.ts';
import { isAtLeast } from './sessions.ts';
import { type AccountRole, deleteMembership, lockMembers, type OperatorRole, saveMembership } from './store.ts';

/** What a person's groups give, all together: of several roles the greatest. */
export interface MappedRights {
  readonly operatorRole: OperatorRole | null;
  readonly accountRole: AccountRole | null;
  readonly routingGroups: readonly string[];
  /** Whether any of the groups gives anything. */
  readonly hasAny: boolean;
}

export function rightsOf(mapping: readonly GroupRights[], groups: readonly string[]): MappedRights {
  const matches = mapping.filter(({ group }) => groups.includes(group));
  const roles = matches.flatMap(({ accountRole }) => accountRole ?? []);
  return {
    operatorRole:
      (['operator', 'auditor'] as const).find((role) => matches.some((g) => g.operatorRole === role)) ?? null,
    accountRole: roles.find((role) => roles.every((other) => isAtLeast(role, other))) ?? null,
    routingGroups: [...new Set(matches.flatMap(({ routingGroups }) => routingGroups))].sort(),
    hasAny: matches.length > 0,
  };
}

/**
 * Has the person's mapped rights follow their groups, as part of the sign-in. What was given by hand stays as it is. The
 * caller waits for `bus.heardByAll` after the commit.
 */
export async function applyRights(
  tx: Tx,
  deps: PeopleDeps,
  by: Actor,
  settings: OidcSettings,
  person: IdentifiedPerson,
  rights: MappedRights,
): Promise<void> {
  const now = deps.clock.now();
  if (rights.operatorRole !== person.operatorRole && (person.operatorRoleMapped || person.operatorRole === null)) {
    await saveMappedRole(tx, person.id, rights.operatorRole);
    const detail = { operator_role: rights.operatorRole, by: 'groups' };
    await recordChange(tx, by, { at: now, action: 'person.update', target: person.id, detail });
  }
  const accounts = new Set(await mappedAccounts(tx, person.id));
  if (settings.accountId !== undefined) accounts.add(settings.accountId);
  for (const accountId of [...accounts].sort()) {
    const role = accountId === settings.accountId ? rights.accountRole : null;
    await applyMembership(tx, by, { accountId, personId: person.id, role }, now);
  }
  if (person.ownAccountId !== null) await applyRoutingGroups(tx, deps, by, settings, person.ownAccountId, rights);
}

async function applyMembership(
  tx: Tx,
  by: Actor,
  { accountId, personId, role }: { accountId: string; personId: string; role: AccountRole | null },
  now: Date,
): Promise<void> {
  const members = await lockMembers(tx, accountId);
  const before = members.find((member) => member.personId === personId);
  if (before === undefined ? role === null : !before.mapped || before.role === role) return;
  const owners = members.filter((member) => member.role === 'owner');
  const isLastOwner = before?.role === 'owner' && owners.length === 1;
  if (!isLastOwner && role === null) await deleteMembership(tx, personId, accountId);
  else if (!isLastOwner && role !== null) await saveMembership(tx, personId, accountId, role, now, { mapped: true });
  // An account keeps its last owner until it has another; the audit says that the group is gone.
  const action = isLastOwner ? 'member.last_owner' : role === null ? 'member.remove' : 'member.role';
  await recordChange(tx, by, { at: now, action, target: accountId, detail: { person: personId, role, by: 'groups' } });
}

/** Of the account's routing groups, those that the mapping names are the person's; the others are the operator's. */
async function applyRoutingGroups(
  tx: Tx,
  deps: PeopleDeps,
  by: Actor,
  { groups: mapping }: OidcSettings,
  accountId: string,
  { routingGroups }: MappedRights,
): Promise<void> {
  const account = await findAccount(tx, accountId);
  const managed = new Set(mapping.flatMap((entry) => entry.routingGroups));
  if (account === undefined || managed.size === 0) return;
  const unmanaged = account.groups.filter((group) => !managed.has(group));
  const wanted = [...new Set([...unmanaged, ...routingGroups])].sort();
  // An account is never without a group.
  const groups = wanted.length === 0 ? ['default'] : wanted;
  if (groups.join() !== [...account.groups].sort().join()) await changeAccount(tx, deps, by, accountId, { groups });
}
