import { GROUPS_MAX, NAME_CHARS_MAX } from './limits.ts';
import type { Secret, Settings } from './settings.ts';

/** Sign-in by an organisation's own identity provider. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** What the button on the sign-in page calls it. */
  readonly name: string;
  readonly scopes: string;
  readonly groupsClaim: string;
  /** What each group at the provider gives. A group that is not named gives nothing. */
  readonly groups: readonly GroupRights[];
  /** Whether a person who is not known yet is made at the first sign-in. */
  readonly signup: 'match' | 'create';
  /** The account that people join; undefined gives each an account of their own. */
  readonly accountId: string | undefined;
}

export interface GroupRights {
  readonly group: string;
  readonly operatorRole: 'operator' | 'auditor' | null;
  /** In the account that people join. */
  readonly accountRole: 'owner' | 'member' | 'viewer' | null;
  /** Of the person's own account. */
  readonly routingGroups: readonly string[];
}

const DEPENDENT = ['OIDC_NAME', 'OIDC_SCOPES', 'OIDC_GROUPS_CLAIM', 'OIDC_GROUPS', 'OIDC_SIGNUP', 'OIDC_ACCOUNT'];

export function oidcSettings(settings: Settings): OidcSettings | undefined {
  const issuer = settings.optional('OIDC_ISSUER');
  const clientId = settings.optional('OIDC_CLIENT_ID');
  const clientSecret = settings.secret('OIDC_CLIENT_SECRET');
  const accountId = settings.optional('OIDC_ACCOUNT');
  const rest = {
    name: settings.text('OIDC_NAME', 'single sign-on'),
    scopes: settings.text('OIDC_SCOPES', 'openid email profile'),
    groupsClaim: settings.text('OIDC_GROUPS_CLAIM', 'groups'),
    groups: mapping(settings, accountId),
    signup: settings.choice('OIDC_SIGNUP', 'match', ['match', 'create'] as const),
    accountId,
  };
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
    complainOfMissing(settings, { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret });
    return undefined;
  }
  if (!isIssuer(issuer))
    settings.complain('OIDC_ISSUER', 'must be an https address without query, or http on this machine');
  if (rest.name.length > NAME_CHARS_MAX)
    settings.complain('OIDC_NAME', `must have at most ${NAME_CHARS_MAX} characters`);
  if (!rest.scopes.split(' ').includes('openid')) settings.complain('OIDC_SCOPES', 'must be words that include openid');
  if (accountId !== undefined && !/^acct_[a-zA-Z0-9]+$/.test(accountId))
    settings.complain('OIDC_ACCOUNT', 'must be the id of an account, acct_…');
  return { issuer, clientId, clientSecret, ...rest };
}

function complainOfMissing(settings: Settings, needed: Record<string, unknown>): void {
  const missing = Object.keys(needed).filter((name) => needed[name] === undefined);
  const present = [...Object.keys(needed), ...DEPENDENT].filter(
    (name) => needed[name] !== undefined || (!(name in needed) && settings.optional(name) !== undefined),
  );
  const [first] = present;
  if (first !== undefined) settings.complain(first, `does nothing without ${missing.join(' and ')}`);
}

/** Tokens and proofs travel to it, so only a connection within the machine may go without TLS. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash, username } = new URL(text);
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return (protocol === 'https:' || (protocol === 'http:' && isLoopback)) && search + hash + username === '';
}

const OPERATOR_ROLES = ['operator', 'auditor'] as const;
const ACCOUNT_ROLES = ['owner', 'member', 'viewer'] as const;
const ROUTING_GROUP = /^group:([a-z0-9][a-z0-9_-]{0,62})$/;
const EXPECTED = 'must be a comma list such as engineering=group:default+group:premium, admins=operator';

/** `GROUP=RIGHT+RIGHT, …`: a right is a role on the deployment, a role in the account that people join, or `group:NAME`. */
function mapping(settings: Settings, accountId: string | undefined): readonly GroupRights[] {
  const entries = settings.text('OIDC_GROUPS', '').split(',');
  const seen = new Set<string>();
  return entries.flatMap((entry) => {
    if (entry.trim() === '') return [];
    const [, group = '', list = ''] = /^([^=]+)=([^=]+)$/.exec(entry.trim()) ?? [];
    const name = group.trim();
    const rights = list.split('+').map((right) => right.trim());
    const problem = name === '' ? EXPECTED : problemOf(rights, accountId);
    if (problem !== undefined) settings.complain('OIDC_GROUPS', `${problem}; this is not: ${entry.trim()}`);
    else if (seen.has(name)) settings.complain('OIDC_GROUPS', `names the group ${name} twice`);
    seen.add(name);
    const routingGroups = rights.flatMap((right) => ROUTING_GROUP.exec(right)?.[1] ?? []);
    const operatorRole = OPERATOR_ROLES.find((role) => rights.includes(role)) ?? null;
    const accountRole = ACCOUNT_ROLES.find((role) => rights.includes(role)) ?? null;
    return [{ group: name, operatorRole, accountRole, routingGroups }];
  });
}

function problemOf(rights: readonly string[], accountId: string | undefined): string | undefined {
  const isRole = (right: string) => ACCOUNT_ROLES.some((role) => role === right);
  const known = (right: string) =>
    isRole(right) || OPERATOR_ROLES.some((role) => role === right) || ROUTING_GROUP.test(right);
  if (!rights.every(known)) return 'gives operator, auditor, owner, member, viewer or group:NAME';
  if (rights.length > GROUPS_MAX) return `gives at most ${GROUPS_MAX} rights for one group`;
  if (accountId === undefined && rights.some(isRole)) return 'gives roles in an account only with OIDC_ACCOUNT';
  if (accountId !== undefined && rights.some((right) => ROUTING_GROUP.test(right)))
    return 'gives routing groups to people with accounts of their own, which OIDC_ACCOUNT rules out';
  return undefined;
}
