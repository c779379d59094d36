import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { openDb } from '../src/db/index.ts';
import { BOOK_ENTRIES_PER_REQUEST_MAX } from '../src/limits.ts';
import { silentLog } from './support/database.ts';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { captureLog, dumpOf } from './support/leaks.ts';
import { operationsOf } from './support/operations.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json.error?.code], [status, code], answer.text);
}

async function done(method: string, path: string, body?: unknown): Promise<Answer['json']> {
  const answer = await gateway.admin(method, path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

const newAccount = (body: object = {}) => done('POST', '/accounts', { name: 'Test', ...body });
const newClient = (body: object = {}) =>
  done('POST', '/oauth/clients', { name: 'App', redirect_uris: [REDIRECT], scopes: ['user:jobs'], ...body });
const REDIRECT = 'https://app.example/callback';

/** What is told of a route that does not exist. */
function nowhere(method: string, path: string): string {
  const message = `There is nothing at ${method} "${path}".`;
  return JSON.stringify({ error: { message, type: 'not_found_error', code: 'not_found', param: null } });
}

test('R-525: an ordinary key or a wrong token finds nothing at any operator route', async () => {
  const { key } = await gateway.newCaller();
  const unknown = await gateway.call('GET', '/api/admin/nowhere', { key });
  assert.equal(unknown.text, nowhere('GET', '/api/admin/nowhere'));
  const operations = await operationsOf(gateway, 'operator');
  assert.ok(operations.length >= 15);
  for (const { method, path } of operations) {
    const tries = [
      { authorization: `Bearer ${key}` },
      { authorization: `Bearer ${ADMIN_TOKEN}x` },
      { authorization: `Bearer ${ADMIN_TOKEN.slice(0, -1)}` },
      { authorization: `Basic ${ADMIN_TOKEN}`, 'x-api-key': key },
      { 'x-api-key': key },
      { 'x-partner-api-key': key },
      { 'x-goog-api-key': key },
      { 'api-key': key },
    ];
    for (const headers of tries) {
      const answer = await gateway.call(method, path, { headers });
      assert.deepEqual(
        [answer.status, answer.text],
        [404, nowhere(method, path)],
        `${method} ${path} ${JSON.stringify(headers)}`,
      );
    }
    assert.equal((await gateway.call(method, `${path}?key=${key}`)).status, 404);
  }
});

test('an operator route without any credential answers 401', async () => {
  for (const { method, path } of await operationsOf(gateway, 'operator')) {
    refused(await gateway.call(method, path), 401, 'missing_token');
    refused(await gateway.call(method, path, { headers: { authorization: 'Bearer ' } }), 401, 'missing_token');
  }
});

test('the admin token is no key', async () => {
  refused(await gateway.call('GET', '/v1/models', { key: ADMIN_TOKEN }), 401, 'invalid_api_key');
});

test('an account is made with its defaults, and read back the same', async () => {
  const account = await newAccount({ name: '  Ada  ' });
  assert.match(account.id, /^acct_[0-9A-Za-z]{24}$/);
  assert.deepEqual(account, {
    id: account.id,
    object: 'account',
    name: 'Ada',
    email: null,
    status: 'active',
    groups: ['default'],
    limits: { rpm: null, concurrency: null },
    balance: 0,
    held: 0,
    last_used_at: null,
    created_at: Math.floor(gateway.clock.nowMs() / 1000),
    warnings: [],
  });
  assert.deepEqual(await done('GET', `/accounts/${account.id}`), account);
});

test('an account takes an email, a password and groups, and never shows the password', async (t) => {
  const captured = captureLog();
  const logged = await Gateway.start({ log: captured.log });
  t.after(() => logged.stop());
  const password = 'correct horse battery staple';
  const body = { name: 'Ada', email: 'Ada@Example.com', password, groups: ['b', 'a', 'b'] };
  const { json, text } = await logged.admin('POST', '/accounts', body);
  assert.deepEqual([json.email, json.groups], ['Ada@Example.com', ['a', 'b']]);
  const dump = await dumpOf(logged.database);
  assert.match(dump, /\$argon2id\$/);
  for (const kept of [text, dump, captured.text()]) assert.ok(!kept.includes('battery'), kept);
});

test('two accounts cannot have one email, in whatever case', async () => {
  await newAccount({ email: 'twice@example.com' });
  const answer = await gateway.admin('POST', '/accounts', { name: 'Second', email: 'TWICE@example.com' });
  refused(answer, 409, 'duplicate_email');
  assert.equal(answer.headers['x-should-retry'], 'false');
});

test('of ten accounts made at once with one email exactly one is made', async () => {
  const body = { name: 'Raced', email: 'raced@example.com' };
  const answers = await Promise.all(Array.from({ length: 10 }, () => gateway.admin('POST', '/accounts', body)));
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, ...Array<number>(9).fill(409)],
  );
});

test('an account’s name, groups and limits can be changed; what is left out stays', async () => {
  const { id, ...before } = await newAccount();
  const renamed = await done('PATCH', `/accounts/${id}`, { name: 'New name', groups: ['z', 'default'] });
  const warnings = ['No upstream has the group "z".'];
  assert.deepEqual(renamed, { ...before, id, name: 'New name', groups: ['default', 'z'], warnings });
  const limited = await done('PATCH', `/accounts/${id}`, { limits: { rpm: 7, concurrency: 3 } });
  assert.deepEqual(limited, { ...renamed, limits: { rpm: 7, concurrency: 3 } });
  const reset = await done('PATCH', `/accounts/${id}`, { limits: { rpm: null } });
  assert.deepEqual(reset, { ...renamed, limits: { rpm: null, concurrency: 3 } });
  assert.deepEqual(await done('PATCH', `/accounts/${id}`, {}), reset);
  assert.deepEqual(await done('GET', `/accounts/${id}`), reset);
});

const EVERY_SETTING = {
  name: 'Everything',
  groups: ['default'],
  rpm: 5,
  concurrency: 2,
  credit_limit: 12.5,
  credit_limit_reset: 'month',
  expires_at: 2_000_000_000,
};

test('a key is made with every setting, and each can be changed and cleared', async () => {
  const { id: account } = await newAccount();
  const { key: _, ...record } = await done('POST', `/accounts/${account}/keys`, EVERY_SETTING);
  assert.deepEqual(record, { ...record, ...EVERY_SETTING, account_id: account, disabled: false, last_used_at: null });
  assert.deepEqual((await done('GET', `/accounts/${account}/keys`)).data, [record]);
  const other = { ...EVERY_SETTING, name: 'Other', rpm: 6, credit_limit: 0, credit_limit_reset: 'day' };
  assert.deepEqual(await done('PATCH', `/keys/${record.id}`, other), { ...record, ...other });
  assert.deepEqual(await done('PATCH', `/keys/${record.id}`, {}), { ...record, ...other });
  const { name: __, ...settings } = EVERY_SETTING;
  const cleared = Object.fromEntries(Object.keys(settings).map((field) => [field, null]));
  const unlimited = { ...record, name: 'Other', ...cleared, credit_limit_used: null };
  assert.deepEqual(await done('PATCH', `/keys/${record.id}`, cleared), unlimited);
});

test('R-282: grants add up in the ledger, newest first, each with the balance that results', async () => {
  const { id } = await newAccount();
  const expires_at = Math.floor(gateway.clock.nowMs() / 1000) + 1;
  const grant = await done('POST', `/accounts/${id}/grants`, { credits: 10, source: 'invoice', expires_at });
  assert.deepEqual(grant, {
    id: grant.id,
    object: 'grant',
    account_id: id,
    amount: 10,
    remaining: 10,
    source: 'invoice',
    reference: null,
    created_at: expires_at - 1,
    expires_at,
  });
  await done('POST', `/accounts/${id}/grants`, { credits: 0.000001 });
  await done('POST', `/accounts/${id}/grants`, { credits: 5.25, reference: `r-${id}` });
  const { data } = await done('GET', `/accounts/${id}/ledger`);
  const movements = data.map((entry: Record<string, unknown>) => [entry.type, entry.amount, entry.balance]);
  assert.deepEqual(movements, [
    ['grant', 5.25, 15.250001],
    ['grant', 0.000001, 10.000001],
    ['grant', 10, 10],
  ]);
});

test('R-282: one reference is granted once, whichever account it is for', async () => {
  const [one, other] = [await newAccount(), await newAccount()];
  const body = { credits: 5, reference: `payment ${one.id}` };
  await done('POST', `/accounts/${one.id}/grants`, body);
  for (const { id } of [one, other]) {
    const again = await gateway.admin('POST', `/accounts/${id}/grants`, body);
    refused(again, 409, 'duplicate_reference');
    assert.equal(again.headers['x-should-retry'], 'false');
  }
  assert.equal((await done('GET', `/accounts/${one.id}/ledger`)).data.length, 1);
  assert.equal((await done('GET', `/accounts/${other.id}/ledger`)).data.length, 0);
});

test('R-282: of ten grants at once with one reference exactly one is made', async () => {
  const { id } = await newAccount();
  const body = { credits: 5, reference: `raced ${id}` };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => gateway.admin('POST', `/accounts/${id}/grants`, body)),
  );
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, ...Array<number>(9).fill(409)],
  );
  assert.deepEqual((await done('GET', `/accounts/${id}/ledger`)).data.length, 1);
});

test('a public client has no secret; a confidential one is shown its secret once, and only the digest is kept', async () => {
  const open = await newClient();
  assert.match(open.id, /^client_[0-9A-Za-z]{24}$/);
  assert.deepEqual([open.confidential, 'client_secret' in open], [false, false]);
  const { client_secret: secret, ...confidential } = await newClient({ confidential: true });
  assert.match(secret, /^ocs_[0-9A-Za-z]{48}$/);
  const { data } = await done('GET', '/oauth/clients?limit=100');
  for (const client of [open, confidential]) {
    assert.deepEqual(
      data.filter(({ id }: { id: string }) => id === client.id),
      [client],
    );
  }
  const dump = await dumpOf(gateway.database);
  assert.ok(!dump.includes(secret.slice(4)));
  assert.ok(dump.includes(createHash('sha256').update(secret).digest('hex')));
});

test('a removed client is no longer listed and cannot be removed again', async () => {
  const { id } = await newClient();
  assert.deepEqual(await done('DELETE', `/oauth/clients/${id}`), { id, object: 'oauth_client', deleted: true });
  const { data } = await done('GET', '/oauth/clients?limit=100');
  assert.ok(data.every((client: { id: string }) => client.id !== id));
  refused(await gateway.admin('DELETE', `/oauth/clients/${id}`), 404, 'client_not_found');
});

interface Change {
  readonly action: string;
  /** Makes what the change needs, and returns the request that makes the change. */
  readonly prepare: () => Promise<{ method: string; path: string; body?: unknown; target?: string }>;
  readonly detail: object;
}

const CHANGES: readonly Change[] = [
  {
    action: 'account.create',
    prepare: async () => ({ method: 'POST', path: '/accounts', body: { name: 'Audited' } }),
    detail: { name: 'Audited' },
  },
  {
    action: 'account.update',
    prepare: async () => {
      const { id } = await newAccount();
      return { method: 'PATCH', path: `/accounts/${id}`, body: { status: 'suspended' }, target: id };
    },
    detail: { status: 'suspended' },
  },
  {
    action: 'credits.grant',
    prepare: async () => {
      const { id } = await newAccount();
      return { method: 'POST', path: `/accounts/${id}/grants`, body: { credits: 1.5, source: 'gift' }, target: id };
    },
    detail: { credits: 1.5, source: 'gift' },
  },
  {
    action: 'key.create',
    prepare: async () => ({ method: 'POST', path: `/accounts/${(await newAccount()).id}/keys`, body: { name: 'K' } }),
    detail: { name: 'K' },
  },
  {
    action: 'key.update',
    prepare: async () => {
      const { keyId } = await gateway.newCaller();
      return { method: 'PATCH', path: `/keys/${keyId}`, body: { disabled: true }, target: keyId };
    },
    detail: { disabled: true },
  },
  {
    action: 'key.delete',
    prepare: async () => {
      const { keyId } = await gateway.newCaller();
      return { method: 'DELETE', path: `/keys/${keyId}`, target: keyId };
    },
    detail: {},
  },
  {
    action: 'oauth_client.create',
    prepare: async () => ({
      method: 'POST',
      path: '/oauth/clients',
      body: { name: 'App', redirect_uris: [REDIRECT], scopes: ['user:jobs'] },
    }),
    detail: { name: 'App', redirect_uris: [REDIRECT], scopes: ['user:jobs'] },
  },
  {
    action: 'oauth_client.delete',
    prepare: async () => {
      const { id } = await newClient();
      return { method: 'DELETE', path: `/oauth/clients/${id}`, target: id };
    },
    detail: {},
  },
];

for (const { action, prepare, detail } of CHANGES) {
  test(`R-524: the audit tells who did ${action} to what, when, and in which request`, async () => {
    const { method, path, body, target } = await prepare();
    const [{ id: last }] = (await done('GET', '/audit?limit=1')).data;
    const requestId = `audited ${action}`;
    const headers = { 'x-request-id': requestId };
    const answer = await gateway.call(method, `/api/admin${path}`, { key: ADMIN_TOKEN, headers, body });
    assert.equal(answer.status, 200, answer.text);
    const [row, before] = (await done('GET', '/audit?limit=2')).data;
    assert.equal(before.id, last, 'one change, one row');
    assert.deepEqual(row, {
      id: row.id,
      object: 'audit_entry',
      at: Math.floor(gateway.clock.nowMs() / 1000),
      actor: 'operator',
      action,
      target: target ?? answer.json.id,
      detail: { ...row.detail, ...detail },
      request_id: requestId,
    });
  });
}

test('R-524: a refused change leaves no row in the audit', async () => {
  const { accountId } = await gateway.newCaller();
  const { id: account } = await newAccount({ email: 'audit@example.com' });
  await done('POST', `/accounts/${account}/grants`, { credits: 1, reference: 'audited once' });
  const [{ id: last }] = (await done('GET', '/audit?limit=1')).data;
  const refusals = [
    await gateway.admin('POST', '/accounts', { name: 'Second', email: 'audit@example.com' }),
    await gateway.admin('PATCH', '/accounts/acct_none', { status: 'suspended' }),
    await gateway.admin('PATCH', `/accounts/${accountId}`, { status: 'gone' }),
    await gateway.admin('POST', `/accounts/${accountId}/grants`, { credits: 1, reference: 'audited once' }),
    await gateway.admin('DELETE', '/keys/key_none'),
    await gateway.admin('DELETE', '/oauth/clients/client_none'),
  ];
  for (const { status } of refusals) assert.ok(status >= 400 && status < 500);
  assert.equal((await done('GET', '/audit?limit=1')).data[0].id, last);
});

test('the books count accounts and entries, and name the first figure that does not follow from the entries', async (t) => {
  const cooked = await Gateway.start();
  t.after(() => cooked.stop());
  const { accountId } = await cooked.newCaller();
  await cooked.admin('POST', `/accounts/${accountId}/grants`, { credits: 3 });
  const books = async () => (await cooked.admin('GET', '/books')).json;
  const counts = { object: 'books', accounts: 1, entries: 1 };
  assert.deepEqual(await books(), { ...counts, balanced: true, entries_checked: 1 });
  assert.deepEqual(await books(), { ...counts, balanced: true, entries_checked: 0 });
  const db = openDb(cooked.database.address, silentLog);
  t.after(() => db.close());
  // The schema itself refuses a single cooked figure, so two are.
  await db.run('update balances set granted = granted + 1, available = available + 1');
  const figure = { figure: 'balances.granted', id: accountId, account: accountId };
  const difference = { ...figure, recorded: '3000001', computed: '3000000' };
  assert.deepEqual(await books(), { ...counts, balanced: false, entries_checked: 0, difference });
  const { json } = await cooked.admin('GET', '/books?full=1');
  assert.deepEqual(json, { ...counts, balanced: false, entries_checked: 1, difference });
});

test('books of so many entries that no answer can wait for them are refused, and the command is named', async (t) => {
  const large = await Gateway.start();
  t.after(() => large.stop());
  await large.newCaller();
  const db = openDb(large.database.address, silentLog);
  t.after(() => db.close());
  await db.run('update balances set entries = $1', [BOOK_ENTRIES_PER_REQUEST_MAX + 1]);
  for (const path of ['/books', '/books?full=1']) {
    const { status, json } = await large.admin('GET', path);
    assert.deepEqual([status, json.error.code], [409, 'books_too_long']);
    assert.match(json.error.message, /^1000001 entries would .*Run "tollgate books verify"\.$/);
  }
});
