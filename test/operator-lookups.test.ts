import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type Answer, Gateway } from './support/gateway.ts';
import { newMember, newOwner } from './support/people.ts';

// What an operator looks up of one account, and how lists are narrowed.

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

async function done(method: string, path: string, body?: unknown): Promise<Answer['json']> {
  const answer = await gateway.admin(method, path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

const idsOf = ({ data }: { readonly data: readonly { readonly id: string }[] }) => data.map(({ id }) => id);

test('R-524: the grants of an account are listed newest first, page by page, and no other account’s', async () => {
  const { id } = await done('POST', '/accounts', { name: 'Granted' });
  const { id: other } = await done('POST', '/accounts', { name: 'Other' });
  const given: string[] = [];
  for (const credits of [10, 20, 30]) {
    gateway.clock.advance(1);
    given.unshift((await done('POST', `/accounts/${id}/grants`, { credits, source: 'test' })).id);
    await done('POST', `/accounts/${other}/grants`, { credits });
  }
  const first = await done('GET', `/accounts/${id}/grants?limit=2`);
  assert.deepEqual([idsOf(first), first.has_more], [given.slice(0, 2), true]);
  const next = await done('GET', `/accounts/${id}/grants?limit=2&after=${given[1]}`);
  assert.deepEqual([idsOf(next), next.has_more], [given.slice(2), false]);
  assert.deepEqual([next.data[0].amount, next.data[0].remaining, next.data[0].source], [10, 10, 'test']);
});

test('R-524: the members of an account and its open invitations are listed', async () => {
  const owner = await newOwner(gateway);
  const member = await newMember(gateway, owner, 'member');
  const path = `/accounts/${owner.accountId}`;
  await done('POST', `${path}/invitations`, { email: 'invited@example.com', role: 'viewer' });
  const members = await done('GET', `${path}/members`);
  assert.deepEqual(
    members.data.map(({ id, role }: { id: string; role: string }) => [id, role]),
    [
      [owner.id, 'owner'],
      [member.id, 'member'],
    ],
  );
  const invitations = await done('GET', `${path}/invitations`);
  assert.deepEqual(
    invitations.data.map(({ email, role }: { email: string; role: string }) => [email, role]),
    [['invited@example.com', 'viewer']],
  );
  assert.ok(!JSON.stringify(invitations).includes('/link/'));
});

test('R-524: accounts are found by a part of their name or address, and by their id', async () => {
  const { id } = await done('POST', '/accounts', { name: 'Zebra 100% Films', email: 'money@Stripes.example' });
  await done('POST', '/accounts', { name: 'Lion' });
  for (const search of ['zebra', '100%', 'stripes.EX', id]) {
    assert.deepEqual(idsOf(await done('GET', `/accounts?search=${encodeURIComponent(search)}`)), [id], search);
  }
  assert.deepEqual(idsOf(await done('GET', '/accounts?search=zebra_lion')), []);
});

test('R-524: the audit is narrowed by action, a family of actions, target and actor, and pages', async () => {
  const { id } = await done('POST', '/accounts', { name: 'Audited' });
  const key = await done('POST', `/accounts/${id}/keys`, { name: 'Test' });
  await done('PATCH', `/keys/${key.id}`, { disabled: true });
  const actions = async (query: string) =>
    (await done('GET', `/audit?${query}`)).data.map(({ action }: { action: string }) => action);
  assert.deepEqual(await actions(`target=${key.id}`), ['key.update', 'key.create']);
  assert.deepEqual(await actions(`target=${key.id}&action=key.create`), ['key.create']);
  assert.deepEqual(await actions(`target=${key.id}&action=key`), ['key.update', 'key.create']);
  assert.deepEqual(await actions(`target=${key.id}&action=ke`), []);
  const [last] = (await done('GET', `/audit?target=${key.id}&limit=1`)).data;
  assert.deepEqual(await actions(`target=${key.id}&after=${last.id}`), ['key.create']);
  assert.deepEqual(await actions(`target=${key.id}&actor=${encodeURIComponent(last.actor)}&limit=1`), ['key.update']);
  assert.deepEqual(await actions(`target=${key.id}&actor=person_none`), []);
});
