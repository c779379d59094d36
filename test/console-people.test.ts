import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser } from './support/browser.ts';
import { Gateway } from './support/gateway.ts';
import { newMember, newOwner, PASSWORD, type SignedInPerson, signedIn } from './support/people.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());

const owner = () => newOwner(gateway);
const member = (host: SignedInPerson, role: string) => newMember(gateway, host, role);

test('R-525: the console knows who is signed in, in which account, and gives the token for changes', async () => {
  const { browser, call, email, accountId } = await owner();
  const { status, json } = await call('GET', '/session');
  assert.equal(status, 200);
  assert.equal(json.person.email, email);
  assert.deepEqual(json.account, { account_id: accountId, name: json.account.name, role: 'owner' });
  assert.equal(json.csrf_token, await browser.csrf());
});

test('R-525: without a session the console answers 401, and a key or the admin token is none', async () => {
  const { key } = await gateway.newCaller();
  for (const headers of [{}, { authorization: `Bearer ${key}` }, { 'x-api-key': key }]) {
    const answer = await gateway.call('GET', '/api/console/session', { headers });
    assert.deepEqual([answer.status, answer.json.error.code], [401, 'not_signed_in']);
  }
});

test('R-525: a change needs the token of the session, and no other session’s will do', async () => {
  const [ada, bob] = [await owner(), await owner()];
  for (const csrf of ['', 'x', await bob.browser.csrf()]) {
    const answer = await ada.browser.json('PATCH', '/api/console/profile', { name: 'Eve' }, csrf);
    assert.deepEqual([answer.status, answer.json.error.code], [403, 'csrf_refused']);
  }
  assert.equal((await ada.call('PATCH', '/profile', { name: 'Ada L.' })).json.name, 'Ada L.');
});

test('sessions are listed and ended one by one, and only one’s own', async () => {
  const ada = await owner();
  const elsewhere = await signedIn(gateway, ada.email, ada.accountId);
  const { json } = await ada.call('GET', '/sessions');
  assert.deepEqual(
    json.data.map((session: { current: boolean }) => session.current),
    [false, true],
  );
  const stranger = await owner();
  const foreign = await stranger.call('DELETE', `/sessions/${json.data[0].id}`);
  assert.deepEqual([foreign.status, foreign.json.error.code], [404, 'session_not_found']);
  assert.equal((await ada.call('DELETE', `/sessions/${json.data[0].id}`)).status, 200);
  assert.equal((await elsewhere.call('GET', '/session')).status, 401);
  assert.equal((await ada.call('GET', '/session')).status, 200);
});

test('a new password needs the current one and ends every other session', async () => {
  const ada = await owner();
  const elsewhere = await signedIn(gateway, ada.email, ada.accountId);
  const wrong = await ada.call('POST', '/profile/password', { current_password: 'no', password: 'another password' });
  assert.deepEqual([wrong.status, wrong.json.error.param], [401, 'current_password']);
  const change = { current_password: PASSWORD, password: 'another password' };
  assert.equal((await ada.call('POST', '/profile/password', change)).status, 200);
  assert.equal((await ada.call('GET', '/session')).status, 200);
  assert.equal((await elsewhere.call('GET', '/session')).status, 401);
});

test('a person of two accounts works in one at a time, and never in one that is not theirs', async () => {
  const [ada, bob, stranger] = [await owner(), await owner(), await owner()];
  const invited = await bob.call('POST', '/invitations', { email: ada.email, role: 'viewer' });
  await ada.browser.submit(await ada.browser.open(new URL(invited.json.url).pathname), {});
  assert.equal((await ada.call('PATCH', '/session', { account_id: bob.accountId })).json.account.role, 'viewer');
  assert.equal((await ada.call('GET', '/session')).json.account.account_id, bob.accountId);
  const foreign = await ada.call('PATCH', '/session', { account_id: stranger.accountId });
  assert.deepEqual([foreign.status, foreign.json.error.code], [404, 'account_not_found']);
});

test('a person who is removed from an account works in no other until they choose one', async () => {
  const [ada, bob] = [await owner(), await owner()];
  const invited = await bob.call('POST', '/invitations', { email: ada.email, role: 'member' });
  await ada.browser.submit(await ada.browser.open(new URL(invited.json.url).pathname), {});
  await ada.call('PATCH', '/session', { account_id: bob.accountId });
  assert.equal((await bob.call('DELETE', `/members/${ada.id}`)).status, 200);
  const refused = await ada.call('GET', '/keys');
  assert.deepEqual([refused.status, refused.json.error.code], [401, 'no_account']);
  assert.equal((await ada.call('GET', '/session')).json.account, null);
  assert.equal((await ada.call('PATCH', '/session', { account_id: ada.accountId })).status, 200);
  assert.equal((await ada.call('GET', '/keys')).status, 200);
});

for (const role of ['viewer', 'member'] as const) {
  test(`a ${role} sees the members and changes nothing about them`, async () => {
    const host = await owner();
    const guest = await member(host, role);
    const members = (await guest.call('GET', '/members')).json.data;
    assert.deepEqual(
      members.map((one: { role: string }) => one.role),
      ['owner', role],
    );
    for (const [method, path, body] of [
      ['POST', '/invitations', { email: 'x@example.com', role: 'owner' }],
      ['GET', '/invitations', undefined],
      ['PATCH', `/members/${members[1].id}`, { role: 'owner' }],
      ['DELETE', `/members/${members[0].id}`, undefined],
    ] as const) {
      const answer = await guest.call(method, path, body);
      assert.deepEqual([answer.status, answer.json.error.code], [403, 'insufficient_role'], `${method} ${path}`);
    }
  });
}

test('an account keeps its last owner, also when two owners leave at once', async () => {
  const host = await owner();
  const other = await member(host, 'owner');
  const members = (await host.call('GET', '/members')).json.data;
  const leave = (who: SignedInPerson, id: string) => who.call('DELETE', `/members/${id}`);
  const answers = await Promise.all([leave(host, members[0].id), leave(other, members[1].id)]);
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, 409],
  );
});

test('an invitation is listed until it is used or withdrawn, and withdrawn it does not work', async () => {
  const host = await owner();
  const invited = await host.call('POST', '/invitations', { email: 'late@example.com', role: 'member' });
  const open = (await host.call('GET', '/invitations')).json.data;
  assert.deepEqual(
    open.map(({ email, role }: { email: string; role: string }) => [email, role]),
    [['late@example.com', 'member']],
  );
  const stranger = await owner();
  assert.equal((await stranger.call('DELETE', `/invitations/${open[0].id}`)).json.error.code, 'invitation_not_found');
  assert.equal((await host.call('DELETE', `/invitations/${open[0].id}`)).status, 200);
  const browser = new Browser(gateway.url, gateway.config.publicUrl);
  assert.equal((await browser.open(new URL(invited.json.url).pathname)).status, 404);
});

test('what people do is in the audit: sign-ins, refused ones, sessions ended, invitations, roles', async () => {
  const host = await owner();
  const guest = await member(host, 'viewer');
  const { id } = (await host.call('GET', '/members')).json.data[1];
  await host.call('PATCH', `/members/${id}`, { role: 'member' });
  await guest.call('DELETE', `/sessions/${(await guest.call('GET', '/session')).json.session_id}`);
  const browser = new Browser(gateway.url, gateway.config.publicUrl);
  await browser.submit(await browser.open('/sign-in'), { email: host.email, password: 'wrong password' });
  const { data } = (await gateway.admin('GET', '/audit?limit=20')).json;
  const actions = data.map((row: { action: string; actor: string }) => `${row.action} ${row.actor}`);
  for (const expected of [
    `session.refused ${host.email}`,
    `session.end ${guest.email}`,
    `member.role ${host.email}`,
    `session.start ${guest.email}`,
    `invitation.accept ${guest.email}`,
    `invitation.create ${host.email}`,
  ]) {
    assert.ok(actions.includes(expected), `${expected} is not in ${actions.join(', ')}`);
  }
});
