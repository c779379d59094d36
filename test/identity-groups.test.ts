import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { Browser } from './support/browser.ts';
import { silentLog } from './support/database.ts';
import { Gateway } from './support/gateway.ts';
import { IdentityProvider } from './support/identity-provider.ts';

const PUBLIC_URL = 'http://127.0.0.1:18787';

let provider: IdentityProvider;
let own: Gateway;
let shared: Gateway;
let accountId: string;
/** Holds the database of `shared`. */
let first: Gateway;
before(async () => {
  provider = await IdentityProvider.start({ redirectUri: `${PUBLIC_URL}/sign-in/callback` });
  const settings = { PUBLIC_URL, ...provider.settings, OIDC_SIGNUP: 'create' };
  const OIDC_GROUPS = 'engineering=group:default+group:premium, lab=group:beta, admins=operator, finance = auditor';
  own = await Gateway.start({ settings: { ...settings, OIDC_GROUPS } });
  first = await Gateway.start();
  accountId = (await first.admin('POST', '/accounts', { name: 'The company' })).json.id;
  const joining = { OIDC_ACCOUNT: accountId, OIDC_GROUPS: 'staff=member, leads=owner, guests=viewer, admins=operator' };
  shared = await Gateway.start({ settings: { ...settings, ...joining }, database: first.database, clock: first.clock });
});
after(async () => {
  await own.stop();
  await shared.stop();
  await first.stop();
  await provider.stop();
});
beforeEach(() => {
  own.clock.advance(60);
  shared.clock.advance(60);
});

/** Signs in with these groups, and answers the status of the return. */
async function signIn(
  gateway: Gateway,
  subject: string,
  groups: unknown,
  browser = browserAt(gateway),
): Promise<number> {
  const claims = { email: `${subject}@example.com`, email_verified: true, name: subject, groups };
  provider.person = { subject, claims };
  const out = await browser.fetch('GET', '/sign-in/provider');
  const back = await provider.visit(out.headers.location ?? '');
  return (await browser.fetch('GET', back.pathname + back.search)).status;
}

const browserAt = (gateway: Gateway) => new Browser(gateway.url, gateway.config.publicUrl);

interface PersonView {
  readonly id: string;
  readonly operator_role: string | null;
}

async function person(gateway: Gateway, subject: string): Promise<PersonView> {
  const { data } = (await gateway.admin('GET', '/people?limit=100')).json;
  return data.find(({ email }: { email: string }) => email === `${subject}@example.com`);
}

async function ownAccount(subject: string): Promise<{ id: string; groups: string[] }> {
  const { data } = (await own.admin('GET', '/accounts?limit=100')).json;
  return data.find(({ email }: { email: string }) => email === `${subject}@example.com`);
}

async function roleOf(subject: string): Promise<string | undefined> {
  const db = openDb(shared.database.address, silentLog);
  try {
    const rows = await db.rows<{ role: string }>(
      'select role from memberships m join people p on p.id = m.person_id where m.account_id = $1 and p.email = $2',
      [accountId, `${subject}@example.com`],
    );
    return rows[0]?.role;
  } finally {
    await db.close();
  }
}

async function audited(gateway: Gateway, action: string, target: string): Promise<unknown[]> {
  const { data } = (await gateway.admin('GET', '/audit?limit=100')).json;
  const rows = data.filter((row: { action: string; target: string }) => row.action === action && row.target === target);
  return rows.map(({ detail }: { detail: unknown }) => detail);
}

test('a group gives a role on the deployment, and takes it away when it is gone', async () => {
  const browser = browserAt(own);
  assert.equal(await signIn(own, 'ada', ['admins', 'unmapped'], browser), 303);
  assert.equal((await browser.fetch('GET', '/api/admin/accounts')).status, 200);
  assert.equal(await signIn(own, 'ada', ['finance']), 303);
  // The other session has the lesser role at once.
  assert.equal((await browser.fetch('GET', '/api/admin/accounts')).status, 200);
  assert.equal((await person(own, 'ada')).operator_role, 'auditor');
  assert.equal(await signIn(own, 'ada', undefined), 303);
  assert.equal((await browser.fetch('GET', '/api/admin/accounts')).status, 404);
  const { id } = await person(own, 'ada');
  assert.deepEqual(await audited(own, 'person.update', id), [
    { operator_role: null, by: 'groups' },
    { operator_role: 'auditor', by: 'groups' },
    { operator_role: 'operator', by: 'groups' },
  ]);
});

test('of two roles on the deployment the greater is given', async () => {
  assert.equal(await signIn(own, 'both', ['finance', 'admins']), 303);
  assert.equal((await person(own, 'both')).operator_role, 'operator');
});

test('a role on the deployment that was given by hand stays without a group', async () => {
  await own.admin('POST', '/accounts', { name: 'Bo', email: 'bo@example.com' });
  const { id } = await person(own, 'bo');
  await own.admin('PATCH', `/people/${id}`, { operator_role: 'auditor' });
  for (const groups of [[], ['admins'], []]) {
    assert.equal(await signIn(own, 'bo', groups), 303);
    assert.equal((await person(own, 'bo')).operator_role, 'auditor');
  }
  // One that came from a group and is then given by hand is by hand.
  await own.admin('PATCH', `/people/${id}`, { operator_role: null });
  await signIn(own, 'bo', ['admins']);
  await own.admin('PATCH', `/people/${id}`, { operator_role: 'auditor' });
  await signIn(own, 'bo', []);
  assert.equal((await person(own, 'bo')).operator_role, 'auditor');
});

test('a new person in none of the mapped groups is refused, and nothing is made', async () => {
  assert.equal(await signIn(own, 'stranger', ['unmapped']), 401);
  assert.equal(await person(own, 'stranger'), undefined);
});

test('groups give routing groups to the person’s own account and take them, in every process, and leave the operator’s', async () => {
  assert.equal(await signIn(own, 'eve', ['engineering']), 303);
  const { id, groups } = await ownAccount('eve');
  assert.deepEqual(groups, ['default', 'premium']);
  const second = await Gateway.start({ database: own.database, clock: own.clock });
  try {
    const { key } = (await own.admin('POST', `/accounts/${id}/keys`, { name: 'k' })).json;
    const modelsAt = async (gateway: Gateway) => (await gateway.call('GET', '/v1/models', { key })).json.data.length;
    const before = [await modelsAt(own), await modelsAt(second)];
    assert.ok(before[0] > 0 && before[0] === before[1]);
    await own.admin('PATCH', `/accounts/${id}`, { groups: ['default', 'premium', 'by-hand'] });
    assert.equal(await signIn(own, 'eve', ['lab']), 303);
    assert.deepEqual((await ownAccount('eve')).groups, ['beta', 'by-hand']);
    // The models are in the group that is gone, and both processes know.
    assert.deepEqual([await modelsAt(own), await modelsAt(second)], [0, 0]);
  } finally {
    await second.stop();
  }
  await own.admin('PATCH', `/accounts/${id}`, { groups: ['beta'] });
  assert.equal(await signIn(own, 'eve', []), 303);
  assert.deepEqual((await ownAccount('eve')).groups, ['default'], 'an account is never without a group');
});

test('the account that carries a matched person’s email follows their groups, and one they only belong to does not', async () => {
  await own.admin('POST', '/accounts', { name: 'Flo', email: 'flo@example.com' });
  const { id: other } = (await own.admin('POST', '/accounts', { name: 'Other', groups: ['premium'] })).json;
  const { url } = (
    await own.admin('POST', `/accounts/${other}/invitations`, { email: 'flo@example.com', role: 'owner' })
  ).json;
  const browser = browserAt(own);
  assert.equal(await signIn(own, 'flo', ['engineering'], browser), 303);
  await browser.submit(await browser.open(new URL(url).pathname), {});
  assert.deepEqual((await ownAccount('flo')).groups, ['default', 'premium']);
  assert.equal(await signIn(own, 'flo', ['lab']), 303);
  assert.deepEqual((await ownAccount('flo')).groups, ['beta']);
  assert.deepEqual((await own.admin('GET', `/accounts/${other}`)).json.groups, ['premium']);
});

test('groups give a role in the account that people join, change it, and take it away', async () => {
  assert.equal(await signIn(shared, 'gus', ['staff', 'guests']), 303);
  assert.equal(await roleOf('gus'), 'member');
  assert.equal(await signIn(shared, 'gus', ['guests']), 303);
  assert.equal(await roleOf('gus'), 'viewer');
  assert.equal(await signIn(shared, 'gus', []), 303);
  assert.equal(await roleOf('gus'), undefined);
  const { id } = await person(shared, 'gus');
  assert.deepEqual(await audited(shared, 'member.role', accountId), [
    { person: id, role: 'viewer', by: 'groups' },
    { person: id, role: 'member', by: 'groups' },
  ]);
  assert.deepEqual(await audited(shared, 'member.remove', accountId), [{ person: id, role: null, by: 'groups' }]);
});

test('a membership that was given by hand stays as it is', async () => {
  const browser = browserAt(shared);
  assert.equal(await signIn(shared, 'hal', ['staff'], browser), 303);
  const invited = { email: 'hal@example.com', role: 'viewer' };
  const { url } = (await shared.admin('POST', `/accounts/${accountId}/invitations`, invited)).json;
  await browser.submit(await browser.open(new URL(url).pathname), {});
  assert.equal(await roleOf('hal'), 'viewer');
  for (const groups of [['leads'], []]) {
    assert.equal(await signIn(shared, 'hal', groups), 303);
    assert.equal(await roleOf('hal'), 'viewer');
  }
});

test('the last owner of the account stays its owner without the group, until there is another', async () => {
  assert.equal(await signIn(shared, 'ivy', ['leads']), 303);
  assert.equal(await signIn(shared, 'ivy', ['staff']), 303);
  assert.equal(await roleOf('ivy'), 'owner');
  const { id } = await person(shared, 'ivy');
  assert.deepEqual(await audited(shared, 'member.last_owner', accountId), [
    { person: id, role: 'member', by: 'groups' },
  ]);
  assert.equal(await signIn(shared, 'jim', ['leads']), 303);
  assert.equal(await signIn(shared, 'ivy', ['staff']), 303);
  assert.equal(await roleOf('ivy'), 'member');
  assert.equal(await roleOf('jim'), 'owner');
});

test('a person whose groups give only a role on the deployment joins no account', async () => {
  assert.equal(await signIn(shared, 'kim', ['admins']), 303);
  assert.equal(await roleOf('kim'), undefined);
  assert.equal((await person(shared, 'kim')).operator_role, 'operator');
});

test('without a mapping all new people join the account as members; one that does not exist refuses them', async () => {
  const settings = { PUBLIC_URL, ...provider.settings, OIDC_SIGNUP: 'create' };
  const on = { database: shared.database, clock: shared.clock };
  const joining = await Gateway.start({ settings: { ...settings, OIDC_ACCOUNT: accountId }, ...on });
  const missing = await Gateway.start({ settings: { ...settings, OIDC_ACCOUNT: 'acct_none' }, ...on });
  try {
    assert.equal(await signIn(missing, 'lea', []), 401);
    assert.equal(await signIn(joining, 'lea', []), 303);
    assert.equal(await roleOf('lea'), 'member');
  } finally {
    await joining.stop();
    await missing.stop();
  }
});

test('another claim may hold the groups', async () => {
  const settings = { PUBLIC_URL, ...provider.settings, OIDC_SIGNUP: 'create', OIDC_GROUPS: 'a b=operator' };
  const other = await Gateway.start({ settings: { ...settings, OIDC_GROUPS_CLAIM: 'teams' } });
  try {
    assert.equal(await signIn(other, 'max', ['a b']), 401);
    const claims = { email: 'max@example.com', email_verified: true, teams: ['a b'] };
    provider.person = { subject: 'max', claims };
    const browser = browserAt(other);
    const back = await provider.visit((await browser.fetch('GET', '/sign-in/provider')).headers.location ?? '');
    assert.equal((await browser.fetch('GET', back.pathname + back.search)).status, 303);
    assert.equal((await person(other, 'max')).operator_role, 'operator');
  } finally {
    await other.stop();
  }
});
