import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type Answer, Gateway } from './support/gateway.ts';

const ROWS = 101;

let gateway: Gateway;
let account: string;
/** What each list must show, among others. */
const made: Record<string, string[]> = {};

before(async () => {
  gateway = await Gateway.start();
  account = (await done('POST', '/accounts', { name: 'Lists' })).id;
  made['/accounts'] = await makeMany('/accounts', { name: 'Test' });
  made['/oauth/clients'] = await makeMany('/oauth/clients', {
    name: 'App',
    redirect_uris: ['https://app.example/'],
    scopes: ['user:jobs'],
  });
  await makeMany(`/accounts/${account}/grants`, { credits: 1 });
  made['/accounts/{account}/keys'] = await makeMany(`/accounts/${account}/keys`, { name: 'Test' }, 45);
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

async function done(method: string, path: string, body?: unknown): Promise<Answer['json']> {
  const answer = await gateway.admin(method, path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Makes rows, some of them in the same moment. */
async function makeMany(path: string, body: object, rows = ROWS): Promise<string[]> {
  const ids: string[] = [];
  for (let row = 0; row < rows; row++) {
    if (row % 3 === 0) gateway.clock.advance(1);
    ids.push((await done('POST', path, body)).id);
  }
  return ids;
}

interface Row {
  readonly id: string;
  readonly created_at?: number;
  readonly at?: number;
}

interface List {
  readonly object: 'list';
  readonly data: readonly Row[];
  readonly has_more: boolean;
}

const list = (path: string, query: string): Promise<List> =>
  done('GET', `${path.replace('{account}', account)}?${query}`);

const lastOf = ({ data }: List) => data.at(-1)?.id ?? '';

/** Every row from page to page. */
async function walk(path: string, limit: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (
    let page = await list(path, `limit=${limit}`);
    ;
    page = await list(path, `limit=${limit}&after=${lastOf(page)}`)
  ) {
    assert.ok(page.data.length === limit || (page.data.length > 0 && !page.has_more));
    rows.push(...page.data);
    if (!page.has_more) return rows;
  }
}

const LISTS = ['/accounts', '/oauth/clients', '/accounts/{account}/keys', '/accounts/{account}/ledger', '/audit'];
const LONG_LISTS = LISTS.filter((path) => !path.endsWith('/keys'));

for (const path of LONG_LISTS) {
  test(`GET ${path} shows at most a hundred rows, and says that there are more`, async () => {
    const first = await list(path, 'limit=100');
    assert.deepEqual([first.object, first.data.length, first.has_more], ['list', 100, true]);
    const next = await list(path, `limit=100&after=${lastOf(first)}`);
    assert.ok(next.data.length > 0);
    assert.ok(next.data.every(({ id }) => !first.data.some((row) => row.id === id)));
  });
}

for (const path of LISTS) {
  test(`GET ${path} shows one row with a limit of one, and twenty without a limit`, async () => {
    const one = await list(path, 'limit=1');
    assert.deepEqual([one.data.length, one.has_more], [1, true]);
    const twenty = await list(path, '');
    assert.deepEqual([twenty.data.length, twenty.has_more], [20, true]);
    assert.equal(twenty.data[0]?.id, one.data[0]?.id);
  });

  test(`GET ${path} goes through every row once, newest first, whatever the pages’ size`, async () => {
    const whole = await walk(path, 100);
    const ids = whole.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    const times = whole.map((row) => row.created_at ?? row.at ?? 0);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => b - a),
    );
    for (const id of made[path] ?? []) assert.ok(ids.includes(id), id);
    for (const limit of [1, 7, 45]) assert.deepEqual(await walk(path, limit), whole, `pages of ${limit}`);
  });

  test(`GET ${path} refuses a limit below one, above a hundred, or that is no number`, async () => {
    for (const limit of ['0', '101', '-1', '1.5', 'ten', '', '1&limit=2', '%00', '1e999']) {
      const { status, json } = await gateway.admin('GET', `${path.replace('{account}', account)}?limit=${limit}`);
      assert.deepEqual([status, json.error?.code], [400, 'invalid_parameter'], limit);
      assert.match(json.error.message, /^"limit"/);
    }
  });

  test(`GET ${path} refuses to go on after something that is not in it`, async () => {
    const { accountId, keyId } = await gateway.newCaller();
    const foreign = path === '/accounts' ? keyId : accountId;
    const others = await gateway.admin('GET', `/accounts/${accountId}/keys`);
    for (const place of ['', 'none', '%00', 'x'.repeat(201), '-1', '0', foreign, others.json.data[0].id]) {
      const { status, json } = await gateway.admin('GET', `${path.replace('{account}', account)}?after=${place}`);
      assert.deepEqual([status, json.error?.code], [400, 'invalid_parameter'], place);
      assert.match(json.error.message, /^"after"/);
    }
  });
}

test('the ledger refuses to go on after an entry of another account', async () => {
  const { accountId } = await gateway.newCaller();
  await done('POST', `/accounts/${accountId}/grants`, { credits: 1 });
  const [entry] = (await done('GET', `/accounts/${accountId}/ledger`)).data;
  const { status } = await gateway.admin('GET', `/accounts/${account}/ledger?after=${entry.id}`);
  assert.equal(status, 400);
});

test('what is made while somebody pages through a list moves nothing in it', async () => {
  const first = await list('/accounts', 'limit=10');
  gateway.clock.advance(1);
  await done('POST', '/accounts', { name: 'Late' });
  const next = await list('/accounts', `limit=10&after=${lastOf(first)}`);
  const both = [...first.data, ...next.data].map(({ id }) => id);
  assert.equal(new Set(both).size, 20);
  const whole = (await walk('/accounts', 100)).map(({ id }) => id);
  assert.ok(whole.join().includes(both.join()));
});

test('a list of keys goes on after one that was deleted meanwhile', async () => {
  const { id } = await done('POST', '/accounts', { name: 'Deleting' });
  for (let count = 0; count < 4; count++) await done('POST', `/accounts/${id}/keys`, { name: 'Test' });
  const path = `/accounts/${id}/keys`;
  const whole = await walk(path, 100);
  const first = await list(path, 'limit=2');
  await done('DELETE', `/keys/${lastOf(first)}`);
  assert.deepEqual((await list(path, `limit=2&after=${lastOf(first)}`)).data, whole.slice(2));
});

test('a list of clients says that it cannot go on after one that was removed, and does not seem to end there', async () => {
  const first = await list('/oauth/clients', 'limit=2');
  await done('DELETE', `/oauth/clients/${lastOf(first)}`);
  made['/oauth/clients'] = (made['/oauth/clients'] ?? []).filter((id) => id !== lastOf(first));
  const { status, json } = await gateway.admin('GET', `/oauth/clients?after=${lastOf(first)}`);
  assert.deepEqual([status, json.error?.code], [400, 'invalid_parameter']);
});
