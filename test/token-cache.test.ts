import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { Browser } from './support/browser.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import { DatabaseLink } from './support/database-link.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import { until } from './support/postgres.ts';
import { type AppGrant, Apps } from './support/tokens.ts';

// Two processes of one deployment, each of which remembers the tokens it has seen.

let database: TestDatabase;
let link: DatabaseLink;
let first: Gateway;
let second: Gateway;
let apps: Apps;

before(async () => {
  database = await createDatabase();
  link = await DatabaseLink.open(database);
  const settings = { TOLLGATE_TOKEN_RPM: '100000' };
  first = await Gateway.start({ database, settings });
  second = await Gateway.start({ database: link.database, settings, clock: first.clock });
  apps = await Apps.open(first);
});
after(async () => {
  await apps.close();
  await second.stop();
  await first.stop();
  await link.cut();
  await database.drop();
});
afterEach(() => first.assertBooksBalance());

function use(at: Gateway, token: string): Promise<Answer> {
  return at.call('GET', '/v1/models', { key: token });
}

async function works(at: Gateway, token: string): Promise<void> {
  const answer = await use(at, token);
  assert.equal(answer.status, 200, answer.text);
}

async function refusedNext(at: Gateway, token: string, code: string): Promise<void> {
  const answer = await use(at, token);
  assert.deepEqual([answer.status, answer.json.error?.code], [401, code]);
}

interface Known {
  readonly grant: AppGrant;
  readonly token: string;
}

/** A token that both processes remember. */
async function knownToken(): Promise<Known> {
  const { json } = await first.admin('POST', '/accounts', { name: 'Test' });
  const grant = await apps.grant(json.id);
  const token = await apps.token(grant);
  await until(async () => (await remembers(first, { grant, token })) && (await remembers(second, { grant, token })));
  return { grant, token };
}

/** Changes the row behind the process's back, and sees whether it still answers by what it knew. Leaves it as it was. */
async function remembers(at: Gateway, { grant, token }: Known): Promise<boolean> {
  await works(at, token);
  const mark = (revoked: boolean) =>
    apps.db.run('update oauth_grants set revoked_at = case when $2 then created_at end where id = $1', [
      grant.grantId,
      revoked,
    ]);
  await mark(true);
  const { status } = await use(at, token);
  await mark(false);
  await until(async () => (await use(at, token)).status === 200);
  return status === 200;
}

test('a token that was seen is answered from memory, without its row', async () => {
  const known = await knownToken();
  assert.equal(await remembers(first, known), true);
  assert.equal(await remembers(second, known), true);
});

test('R-132: a revocation is in force on every process with the very next request, fifty times over', async () => {
  for (let round = 0; round < 50; round++) {
    const { json } = await first.admin('POST', '/accounts', { name: 'Test' });
    const grant = await apps.grant(json.id);
    const tokens = [await apps.token(grant), await apps.token(grant)];
    for (const at of [first, second, first, second]) for (const token of tokens) await works(at, token);
    await apps.revoke(grant);
    for (const at of [second, first]) for (const token of tokens) await refusedNext(at, token, 'invalid_api_key');
  }
});

test('R-132: a row that was read before the revocation and arrives after it is not remembered', async (t) => {
  const { json } = await first.admin('POST', '/accounts', { name: 'Test' });
  const grant = await apps.grant(json.id);
  const token = await apps.token(grant);
  link.holdAnswersTo(Buffer.from(createHash('sha256').update(token).digest('hex')));
  t.after(() => link.letGo());
  const reading = use(second, token);
  await until(() => link.isHolding);
  await apps.revoke(grant);
  link.letGo();
  assert.equal((await reading).status, 200, 'begun before the revocation');
  await refusedNext(second, token, 'invalid_api_key');
});

test('R-132: a process whose listener hears nothing more, and does not know it, serves no revoked grant', async (t) => {
  const { grant, token } = await knownToken();
  link.silenceListeners();
  t.after(() => link.unsilenceListeners());
  await works(second, token);
  await apps.revoke(grant);
  await refusedNext(second, token, 'invalid_api_key');
});

test('a limit that is set on a grant is in force on the other process with the very next request', async () => {
  const { grant, token } = await knownToken();
  await first.admin('POST', `/accounts/${grant.accountId}/grants`, { credits: 100 });
  const body = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 };
  const chat = () => second.call('POST', '/v1/chat/completions', { key: token, body });
  const limit = (credits: bigint | null) =>
    apps.change(grant, (tx) =>
      tx.run('update oauth_grants set credit_limit = $2 where id = $1', [grant.grantId, credits]),
    );
  for (let round = 0; round < 10; round++) {
    // Enough that the other process has a purse for the account.
    for (let call = 0; call < 5; call++) assert.equal((await chat()).status, 200);
    await limit(0n);
    const refused = await chat();
    assert.deepEqual([refused.status, refused.json.error?.code], [402, 'insufficient_credits']);
    await limit(null);
  }
});

test('R-113: without the database an unseen token gets 503, and works again when it is back', async () => {
  const { json } = await first.admin('POST', '/accounts', { name: 'Test' });
  const [token, mistyped] = [await apps.newToken(json.id), 'oat_none'];
  await link.cut();
  const answer = await use(second, token);
  assert.deepEqual([answer.status, answer.json.error?.code], [503, 'identity_unavailable']);
  // A typing error needs no database to be seen.
  await refusedNext(second, mistyped, 'invalid_api_key');
  await link.restore();
  await until(async () => (await use(second, token)).status === 200);
});

test('R-112: a suspension and its end are in force on the other process with the very next request', async () => {
  const { grant, token } = await knownToken();
  for (let round = 0; round < 10; round++) {
    await first.admin('PATCH', `/accounts/${grant.accountId}`, { status: 'suspended' });
    await refusedNext(second, token, 'account_disabled');
    await first.admin('PATCH', `/accounts/${grant.accountId}`, { status: 'active' });
    await works(second, token);
  }
});

test('R-057: disabling a person is in force on the other process with the very next request', async () => {
  const { grant, token } = await knownToken();
  for (let round = 0; round < 10; round++) {
    await first.admin('PATCH', `/people/${grant.personId}`, { disabled: true });
    await refusedNext(second, token, 'no_account');
    await first.admin('PATCH', `/people/${grant.personId}`, { disabled: false });
    await works(second, token);
  }
});

test('R-057: another role, and the end of a membership, are in force on the other process with the very next request', async () => {
  const owner = { email: 'owner@example.com', password: 'correct horse battery' };
  const account = await first.admin('POST', '/accounts', { name: 'Owned', ...owner });
  const browser = new Browser(first.url, first.config.publicUrl);
  await browser.submit(await browser.open('/sign-in'), owner);
  const csrf = await browser.csrf();
  const grant = await apps.grant(account.json.id, { role: 'member' });
  const token = await apps.token(grant);
  const path = `/api/console/members/${grant.personId}`;
  for (let round = 0; round < 10; round++) {
    for (const at of [first, second]) await works(at, token);
    assert.equal((await browser.json('PATCH', path, { role: 'viewer' }, csrf)).status, 200);
    await refusedNext(second, token, 'no_account');
    assert.equal((await browser.json('PATCH', path, { role: 'member' }, csrf)).status, 200);
    await works(second, token);
  }
  assert.equal((await browser.json('DELETE', path, undefined, csrf)).status, 200);
  await refusedNext(second, token, 'no_account');
  await refusedNext(first, token, 'no_account');
});
