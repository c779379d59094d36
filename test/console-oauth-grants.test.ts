import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { atConsole, byKey, ConsoleSite } from './support/console-site.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import { newMember, type SignedInPerson } from './support/people.ts';
import { type AppGrant, Apps } from './support/tokens.ts';

const site = new ConsoleSite();
let apps: Apps;
let owner: SignedInPerson;
let member: SignedInPerson;
/** What the owner, the member and somebody else of the account allowed an app each. */
let grants: Record<'owner' | 'member' | 'other', AppGrant>;
before(async () => {
  await site.start();
  apps = await Apps.open(site.gateway);
});
after(async () => {
  await apps.close();
  await site.stop();
});
beforeEach(async () => {
  owner = await site.owner();
  member = await newMember(site.gateway, owner, 'member');
  const grant = (personId?: string) => apps.grant(owner.accountId, personId === undefined ? {} : { personId });
  grants = { other: await grant(), owner: await grant(owner.id), member: await grant(member.id) };
});
afterEach(() => site.gateway.assertBooksBalance());

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json.error?.code], [status, code], answer.text);
}

const listed = async (person: SignedInPerson): Promise<string[]> =>
  (await person.call('GET', '/oauth-grants')).json.data.map(({ id }: { id: string }) => id).sort();

test('R-132: a person sees what they allowed apps in this account, an owner what everybody did', async () => {
  assert.deepEqual(await listed(member), [grants.member.grantId]);
  assert.deepEqual(
    await listed(owner),
    Object.values(grants)
      .map(({ grantId }) => grantId)
      .sort(),
  );
  const stranger = await site.owner();
  assert.deepEqual(await listed(stranger), []);
  const [record] = (await member.call('GET', '/oauth-grants')).json.data;
  assert.deepEqual(record.person, { id: member.id, email: member.email });
  assert.deepEqual([record.client.id, record.account], [grants.member.clientId, owner.accountId]);
  assert.deepEqual([record.credit_limit, record.credits_used, record.scopes], [null, 0, [...grants.member.scopes]]);
});

test('R-132: the list pages, and shows what each app has spent', async () => {
  await site.made(byKey(await apps.token(grants.member)), 'chat');
  const spent = (await owner.call('GET', '/credits')).json.spent;
  assert.equal((await member.call('GET', '/oauth-grants')).json.data[0].credits_used, spent);
  const first = (await owner.call('GET', '/oauth-grants?limit=2')).json;
  const rest = (await owner.call('GET', `/oauth-grants?limit=2&after=${first.data[1].id}`)).json;
  assert.deepEqual([first.data.length, first.has_more, rest.data.length, rest.has_more], [2, true, 1, false]);
});

test('R-132: a revoked grant opens nothing on the next request, on any process', async (t) => {
  const { database, clock } = site.gateway;
  const other = await Gateway.start({ database, clock });
  t.after(() => other.stop());
  const token = await apps.token(grants.member);
  const use = (at: Gateway) => at.call('GET', '/v1/models', { key: token });
  for (const at of [site.gateway, other]) assert.equal((await use(at)).status, 200);
  const answer = await member.call('DELETE', `/oauth-grants/${grants.member.grantId}`);
  assert.deepEqual(answer.json, { id: grants.member.grantId, object: 'oauth_grant', deleted: true });
  for (const at of [site.gateway, other]) assert.equal((await use(at)).status, 401);
  assert.deepEqual(await listed(member), []);
  refused(await member.call('DELETE', `/oauth-grants/${grants.member.grantId}`), 404, 'grant_not_found');
  const [row] = (await site.gateway.admin('GET', '/audit?limit=1')).json.data;
  assert.deepEqual([row.action, row.actor, row.target], ['consent.revoke', member.email, grants.member.grantId]);
});

test('R-132: an owner revokes anybody’s grant of the account, a member only their own, nobody another account’s', async () => {
  const stranger = await site.owner();
  for (const person of [member, stranger]) {
    for (const method of ['DELETE', 'PATCH']) {
      const body = method === 'PATCH' ? { credit_limit: 0 } : undefined;
      refused(await person.call(method, `/oauth-grants/${grants.other.grantId}`, body), 404, 'grant_not_found');
    }
  }
  assert.ok((await listed(owner)).includes(grants.other.grantId));
  assert.equal((await owner.call('DELETE', `/oauth-grants/${grants.other.grantId}`)).status, 200);
  assert.ok(!(await listed(owner)).includes(grants.other.grantId));
});

test('one who may only look any more still revokes their own grants, and changes no limit', async () => {
  await owner.call('PATCH', `/members/${member.id}`, { role: 'viewer' });
  const path = `/oauth-grants/${grants.member.grantId}`;
  refused(await member.call('PATCH', path, { credit_limit: 5 }), 403, 'insufficient_role');
  assert.equal((await member.call('DELETE', path)).status, 200);
});

test('what an app may spend is changed in force at once, set, lowered and lifted', async () => {
  const path = `/oauth-grants/${grants.member.grantId}`;
  const token = await apps.token(grants.member);
  await site.made(byKey(token), 'picture');
  const limited = await member.call('PATCH', path, { credit_limit: 0, credit_limit_reset: 'week' });
  assert.deepEqual([limited.json.credit_limit, limited.json.credit_limit_reset], [0, 'week']);
  refused(await site.run(byKey(token), 'picture'), 402, 'insufficient_credits');
  // What is not given stays.
  const raised = await member.call('PATCH', path, { credit_limit: 100.5 });
  assert.deepEqual([raised.json.credit_limit, raised.json.credit_limit_reset], [100.5, 'week']);
  await site.made(byKey(token), 'picture');
  const lifted = await owner.call('PATCH', path, { credit_limit: null, credit_limit_reset: null });
  assert.deepEqual([lifted.json.credit_limit, lifted.json.credit_limit_reset], [null, null]);
  await site.made(byKey(token), 'picture');
  const rows = (await site.gateway.admin('GET', '/audit?limit=3')).json.data;
  assert.deepEqual(
    rows.map(({ action, actor }: { action: string; actor: string }) => `${action} ${actor}`),
    [`consent.limit ${owner.email}`, `consent.limit ${member.email}`, `consent.limit ${member.email}`],
  );
});

for (const body of [{ credit_limit: -1 }, { credit_limit: 1e-7 }, { credit_limit_reset: 'year' }, { scopes: [] }]) {
  test(`a limit of ${JSON.stringify(body)} is refused`, async () => {
    const path = `/oauth-grants/${grants.member.grantId}`;
    refused(await member.call('PATCH', path, body), 400, 'invalid_parameter');
    const [record] = (await member.call('GET', '/oauth-grants')).json.data;
    assert.deepEqual([record.credit_limit, record.credit_limit_reset], [null, null]);
  });
}

test('R-132: what counts against an app’s limit is what it spent in the period, and starts again with the next', async () => {
  const limit = { credit_limit: 1000, credit_limit_reset: 'day' };
  const { json } = await member.call('PATCH', `/oauth-grants/${grants.member.grantId}`, limit);
  const before = json.credit_limit_used;
  const { usage } = (await site.made(byKey(await apps.token(grants.member)), 'chat')).json;
  const record = async () => (await member.call('GET', '/oauth-grants')).json.data[0];
  const { credit_limit_used, credits_used } = await record();
  assert.equal(micro(credit_limit_used) - micro(before), micro(usage.credits));
  site.gateway.clock.advance(24 * 3600);
  const next = await record();
  assert.deepEqual([next.credit_limit_used, next.credits_used], [0, credits_used]);
});

test('what an app spends and what the console spends are told apart in usage by key', async () => {
  await site.made(byKey(await apps.token(grants.member)), 'chat');
  await site.made(atConsole(owner), 'chat');
  const { data } = (await owner.call('GET', '/usage?group_by=key')).json;
  assert.deepEqual(data.map(({ group }: { group: string }) => group).sort(), ['console', grants.member.grantId].sort());
});

function micro(credits: number): number {
  return Math.round(credits * 1_000_000);
}
