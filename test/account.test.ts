import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { Gateway, type NewCaller } from './support/gateway.ts';
import { Spender } from './support/spend.ts';

let gateway: Gateway;
let spender: Spender;
before(async () => {
  gateway = await Gateway.start();
  spender = new Spender(gateway.database, gateway.clock);
});
afterEach(() => gateway.assertBooksBalance());
after(async () => {
  await spender.close();
  await gateway.stop();
});

async function callerWith(credits: number, grant: Record<string, unknown> = {}): Promise<NewCaller> {
  const caller = await gateway.newCaller();
  const granted = await gateway.admin('POST', `/accounts/${caller.accountId}/grants`, { credits, ...grant });
  assert.equal(granted.status, 200, granted.text);
  return caller;
}

const read = async (caller: NewCaller, path: string) => (await gateway.call('GET', path, { key: caller.key })).json;

test('R-267 R-279: the balance shows what is available, reserved and spent, and is the only one', async () => {
  const caller = await callerWith(12.5);
  await spender.spend({ ...caller, reserve: 4, settle: 3 });
  await spender.spend({ ...caller, reserve: 2 });
  const { updated_at, ...balance } = await read(caller, '/v1/credits');
  assert.deepEqual(balance, { object: 'credit_balance', available: 7.5, reserved: 2, spent: 3 });
  assert.ok(Number.isInteger(updated_at));
});

test('R-279 R-282: grants are listed newest first with what remains of each', async () => {
  const caller = await callerWith(5, { reference: `first-${Date.now()}` });
  await gateway.admin('POST', `/accounts/${caller.accountId}/grants`, { credits: 7, source: 'gift', expires_at: 4e9 });
  await spender.spend({ ...caller, reserve: 3, settle: 3 });
  const { data } = await read(caller, '/v1/credits/grants');
  const seen = data.map((grant: Record<string, unknown>) => [
    grant.source,
    grant.amount,
    grant.remaining,
    grant.expires_at,
  ]);
  assert.deepEqual(seen, [
    ['gift', 7, 4, 4e9],
    ['operator', 5, 5, null],
  ]);
  assert.match(data[0].id, /^grant_/);
});

test('R-279: transactions tell every movement, newest first, and page by id', async () => {
  const caller = await callerWith(10);
  await spender.spend({ ...caller, reserve: 4, settle: 1, model: 'studio/a' });
  const all = await read(caller, '/v1/credits/transactions');
  assert.deepEqual(
    all.data.map((entry: Record<string, unknown>) => [entry.type, entry.amount, entry.charged, entry.balance]),
    [
      ['settle', 3, 1, 9],
      ['reserve', -4, 0, 6],
      ['grant', 10, 0, 10],
    ],
  );
  assert.equal(all.data[0].model, 'studio/a');
  assert.match(all.data[0].id, /^txn_/);
  assert.equal(all.data[0].key_id, caller.keyId);
  const rest = await read(caller, `/v1/credits/transactions?limit=1&after=${all.data[0].id}`);
  assert.deepEqual([rest.data.length, rest.data[0].id, rest.has_more], [1, all.data[1].id, true]);
});

test('R-279: another account’s transaction is no place to go on from', async () => {
  const [mine, theirs] = [await callerWith(1), await callerWith(1)];
  const { data } = await read(theirs, '/v1/credits/transactions');
  const answer = await gateway.call('GET', `/v1/credits/transactions?after=${data[0].id}`, { key: mine.key });
  assert.deepEqual([answer.status, answer.json.error.code], [400, 'invalid_parameter']);
});

test('R-279: usage is added up by day, model and key', async () => {
  const caller = await callerWith(100);
  await spender.spend({ ...caller, reserve: 2, settle: 2, model: 'studio/a' });
  await spender.spend({ ...caller, reserve: 1, settle: 3, model: 'studio/b' });
  await spender.spend({ ...caller, reserve: 5, settle: 0, model: 'studio/c' });
  const day = gateway.clock.now().toISOString().slice(0, 10);
  assert.deepEqual((await read(caller, '/v1/usage')).data, [{ group: day, requests: 2, credits: 5 }]);
  assert.deepEqual((await read(caller, '/v1/usage?group_by=model')).data, [
    { group: 'studio/a', requests: 1, credits: 2 },
    { group: 'studio/b', requests: 1, credits: 3 },
  ]);
  assert.deepEqual((await read(caller, '/v1/usage?group_by=key')).data, [
    { group: caller.keyId, requests: 2, credits: 5 },
  ]);
});

test('R-279: usage comes as CSV that a spreadsheet takes for text', async () => {
  const caller = await callerWith(100);
  await spender.spend({ ...caller, reserve: 2, settle: 2, model: '=1+1,"x"' });
  const answer = await gateway.call('GET', '/v1/usage?group_by=model&format=csv', { key: caller.key });
  assert.equal(answer.headers['content-type'], 'text/csv; charset=utf-8');
  assert.equal(answer.text, `model,requests,credits\r\n"'=1+1,""x""",1,2\r\n`);
});

test('R-279: usage takes days and Unix seconds, and its end is not included', async () => {
  const caller = await callerWith(100);
  await spender.spend({ ...caller, reserve: 2, settle: 2 });
  const now = Math.floor(gateway.clock.nowMs() / 1000);
  assert.equal((await read(caller, `/v1/usage?from=${now}&to=${now + 1}`)).data.length, 1);
  assert.equal((await read(caller, `/v1/usage?from=${now - 60}&to=${now}`)).data.length, 0);
  assert.equal((await read(caller, '/v1/usage?from=2030-01-01&to=2030-12-31')).data.length, 1);
});

for (const query of [
  'from=2030-02-31',
  'from=x',
  'from=2030-01-02&to=2030-01-01',
  'from=2020-01-01',
  'group_by=week',
  'format=xml',
]) {
  test(`R-279: usage refuses ${query}`, async () => {
    const caller = await gateway.newCaller();
    const answer = await gateway.call('GET', `/v1/usage?${query}`, { key: caller.key });
    assert.deepEqual([answer.status, answer.json.error.code], [400, 'invalid_parameter']);
  });
}

test('R-097 R-279: a key reads its own record, with what it has used', async () => {
  const caller = await callerWith(10);
  await spender.spend({ ...caller, reserve: 2, settle: 1 });
  const key = await read(caller, '/v1/key');
  assert.deepEqual([key.id, key.object, key.name, key.credits_used], [caller.keyId, 'api_key', 'test', 1]);
  assert.equal(key.prefix, caller.key.slice(7, 11));
  assert.ok(!JSON.stringify(key).includes(caller.key));
});

test('R-280: the same amount always prints the same way, with at most six decimals', async () => {
  const caller = await callerWith(0.000001);
  await gateway.admin('POST', `/accounts/${caller.accountId}/grants`, { credits: 999_999.999999 });
  const { text } = await gateway.call('GET', '/v1/credits', { key: caller.key });
  assert.match(text, /"available":1000000,/);
  const refused = await gateway.admin('POST', `/accounts/${caller.accountId}/grants`, { credits: 0.0000001 });
  assert.deepEqual([refused.status, refused.json.error.code], [400, 'invalid_parameter']);
});

test('R-280: an account is given at most what can be counted exactly', async () => {
  const { accountId, key } = await gateway.newCaller();
  const give = (credits: number) => gateway.admin('POST', `/accounts/${accountId}/grants`, { credits });
  for (let index = 0; index < 9; index++) assert.equal((await give(1_000_000_000)).status, 200);
  const refused = await give(0.000001);
  assert.deepEqual([refused.status, refused.json.error.code], [400, 'invalid_parameter']);
  assert.match((await gateway.call('GET', '/v1/credits', { key })).text, /"available":9000000000,/);
});

test('R-283: deleting a key deletes no ledger entry', async () => {
  const caller = await callerWith(10);
  await spender.spend({ ...caller, reserve: 2, settle: 1 });
  const other = await gateway.admin('POST', `/accounts/${caller.accountId}/keys`, { name: 'other' });
  const before = await read({ ...caller, key: other.json.key }, '/v1/credits/transactions');
  await gateway.admin('DELETE', `/keys/${caller.keyId}`);
  assert.deepEqual(await read({ ...caller, key: other.json.key }, '/v1/credits/transactions'), before);
});

test('R-281: an account record has its name, email, status and groups', async () => {
  const email = `ada-${Date.now()}@example.com`;
  const { json } = await gateway.admin('POST', '/accounts', { name: 'Ada', email });
  const { id, created_at, limits: _, balance: __, held: ___, last_used_at: ____, warnings: _____, ...rest } = json;
  assert.match(id, /^acct_/);
  assert.ok(Number.isInteger(created_at));
  assert.deepEqual(rest, { object: 'account', name: 'Ada', email, status: 'active', groups: ['default'] });
});
