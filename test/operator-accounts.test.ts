import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { ADMIN_TOKEN, type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { operationsOf } from './support/operations.ts';
import { Spender } from './support/spend.ts';

let gateway: Gateway;
let spender: Spender;
before(async () => {
  gateway = await Gateway.start();
  spender = new Spender(gateway.database, gateway.clock);
});
after(async () => {
  await spender.close();
  await gateway.stop();
});
afterEach(() => gateway.assertBooksBalance());

async function done(method: string, path: string, body?: unknown): Promise<Answer['json']> {
  const answer = await gateway.admin(method, path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

function refused(answer: Answer, about: RegExp): void {
  assert.deepEqual([answer.status, answer.json.error?.code], [400, 'invalid_parameter'], answer.text);
  assert.equal(answer.json.error.param, 'groups');
  assert.match(answer.json.error.message, about);
}

const unrouted = (group: string) => `No upstream has the group "${group}".`;
const lost = (group: string) => `The account does not have the group "${group}" any more: the key does not reach it.`;

test('an account with a group that no upstream has is made and changed with a warning', async () => {
  const account = await done('POST', '/accounts', { name: 'Test', groups: ['default', 'nowhere'] });
  assert.deepEqual(account.warnings, [unrouted('nowhere')]);
  assert.deepEqual((await done('GET', `/accounts/${account.id}`)).warnings, [unrouted('nowhere')]);
  const changed = await done('PATCH', `/accounts/${account.id}`, { groups: ['elsewhere'] });
  assert.deepEqual([changed.groups, changed.warnings], [['elsewhere'], [unrouted('elsewhere')]]);
  assert.deepEqual((await done('PATCH', `/accounts/${account.id}`, { groups: ['default'] })).warnings, []);
});

test('a key with a group that no upstream has is made and changed with a warning', async () => {
  const { id } = await done('POST', '/accounts', { name: 'Test', groups: ['default', 'nowhere'] });
  const key = await done('POST', `/accounts/${id}/keys`, { name: 'Test', groups: ['nowhere'] });
  assert.deepEqual([key.groups, key.warnings], [['nowhere'], [unrouted('nowhere')]]);
  assert.deepEqual((await done('GET', `/accounts/${id}/keys`)).data[0].warnings, [unrouted('nowhere')]);
  assert.deepEqual((await done('PATCH', `/keys/${key.id}`, { groups: ['default'] })).warnings, []);
  assert.deepEqual((await done('PATCH', `/keys/${key.id}`, { groups: ['nowhere'] })).warnings, [unrouted('nowhere')]);
  assert.deepEqual((await done('PATCH', `/keys/${key.id}`, { groups: null })).warnings, []);
});

test('a key with groups outside its account’s is refused, when it is made and when it is changed', async () => {
  const { id } = await done('POST', '/accounts', { name: 'Test', groups: ['default', 'gold'] });
  const beyond = { name: 'Test', groups: ['default', 'silver'] };
  refused(await gateway.admin('POST', `/accounts/${id}/keys`, beyond), /"groups".*"silver".*default, gold/);
  assert.deepEqual((await done('GET', `/accounts/${id}/keys`)).data, []);
  const key = await done('POST', `/accounts/${id}/keys`, { name: 'Test', groups: ['default', 'gold'] });
  refused(await gateway.admin('PATCH', `/keys/${key.id}`, { groups: ['silver'] }), /"groups".*"silver"/);
  assert.deepEqual((await done('GET', `/accounts/${id}/keys`)).data[0].groups, ['default', 'gold']);
});

test('an account that is narrowed narrows its keys with it, says so, and widens them again', async () => {
  const caller = await gateway.newCaller({ groups: ['default', 'gold'], key: { groups: ['default'] } });
  const models = async () => (await gateway.call('GET', '/v1/models', { key: caller.key })).json.data.length;
  assert.ok((await models()) > 0);
  const narrowed = await done('PATCH', `/accounts/${caller.accountId}`, { groups: ['gold'] });
  assert.deepEqual(narrowed.warnings, [
    unrouted('gold'),
    'Keys with a group that the account does not have, which they do not reach: 1.',
  ]);
  assert.equal(await models(), 0);
  assert.deepEqual((await done('GET', `/accounts/${caller.accountId}/keys`)).data[0].warnings, [lost('default')]);
  // Other settings can still be changed.
  assert.deepEqual((await done('PATCH', `/keys/${caller.keyId}`, { rpm: 5 })).warnings, [lost('default')]);
  await done('PATCH', `/accounts/${caller.accountId}`, { groups: ['default', 'gold'] });
  assert.ok((await models()) > 0);
});

test('a caller sees no warnings about groups', async () => {
  const { key } = await gateway.newCaller({ groups: ['default', 'nowhere'], key: { groups: ['nowhere'] } });
  const answer = await gateway.call('GET', '/v1/key', { key });
  assert.ok(!answer.text.includes('warnings'), answer.text);
});

async function credits({ key }: NewCaller): Promise<{ available: number; reserved: number }> {
  const { json } = await gateway.call('GET', '/v1/credits', { key });
  return { available: json.available, reserved: json.reserved };
}

test('GET /accounts and /accounts/{id} show balance, held and last use as the account itself sees them', async () => {
  const [rich, poor] = [await gateway.newCaller(), await gateway.newCaller()];
  await done('POST', `/accounts/${rich.accountId}/grants`, { credits: 100 });
  const soon = Math.floor(gateway.clock.nowMs() / 1000) + 60;
  await done('POST', `/accounts/${rich.accountId}/grants`, { credits: 7, expires_at: soon });
  await spender.spend({ accountId: rich.accountId, keyId: rich.keyId, reserve: 30, settle: 20 });
  await spender.spend({ accountId: rich.accountId, keyId: rich.keyId, reserve: 15 });
  const used = Math.floor(gateway.clock.nowMs() / 1000);
  assert.deepEqual(await credits(rich), { available: 72, reserved: 15 });
  // What has expired no longer counts, even if no entry says so yet.
  gateway.clock.advance(61);
  await figuresAre(rich, { balance: 72, held: 15 });
  assert.deepEqual(await credits(rich), { available: 72, reserved: 15 });
  await figuresAre(poor, { balance: 0, held: 0 });
  const second = await Gateway.start({ database: gateway.database, clock: gateway.clock });
  await second.call('GET', '/v1/models', { key: poor.key });
  await second.stop();
  assert.equal((await done('GET', `/accounts/${poor.accountId}`)).last_used_at, used + 61);
});

async function figuresAre({ accountId }: NewCaller, expected: { balance: number; held: number }): Promise<void> {
  const { balance, held } = await done('GET', `/accounts/${accountId}`);
  assert.deepEqual({ balance, held }, expected);
  const listed = (await done('GET', '/accounts?limit=100')).data.find(({ id }: { id: string }) => id === accountId);
  assert.deepEqual({ balance: listed.balance, held: listed.held }, expected);
}

test('the balance is right while calls of a busy account are only in the journal', async () => {
  const caller = await gateway.newCaller({ key: { rpm: 10_000, concurrency: 100 } });
  await done('POST', `/accounts/${caller.accountId}/grants`, { credits: 1000 });
  const body = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'hello' }], max_tokens: 5 };
  let spent = 0;
  for (let round = 0; round < 10; round++) {
    const calls = Array.from({ length: 5 }, () =>
      gateway.call('POST', '/v1/chat/completions', { key: caller.key, body }),
    );
    for (const { status, json, text } of await Promise.all(calls)) {
      assert.equal(status, 200, text);
      spent += Math.round(json.usage.credits * 1e6);
    }
    const { balance, held } = await done('GET', `/accounts/${caller.accountId}`);
    assert.deepEqual([Math.round(balance * 1e6), held], [1000e6 - spent, 0]);
  }
});

test('every operator route refuses a query parameter that it does not know, and names it', async () => {
  const operations = await operationsOf(gateway, 'operator');
  assert.ok(operations.length >= 20);
  for (const { method, path } of operations) {
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    const answer = await gateway.call(method, `${path}?limitt=5`, { key: ADMIN_TOKEN, body });
    assert.deepEqual([answer.status, answer.json.error?.code], [400, 'invalid_parameter'], `${method} ${path}`);
    assert.match(answer.json.error.message, /"limitt"/, `${method} ${path}`);
    assert.equal(answer.json.error.param, 'limitt', `${method} ${path}`);
  }
});
