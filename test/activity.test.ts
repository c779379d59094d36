import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type Db, openDb } from '../src/db/index.ts';
import { timedUuid } from '../src/ids.ts';
import { EXPORT_ROWS_PER_READ } from '../src/limits.ts';
import { byKey, ConsoleSite, RUNS } from './support/console-site.ts';
import { silentLog } from './support/database.ts';
import type { Answer } from './support/gateway.ts';
import type { SignedInPerson } from './support/people.ts';
import { until } from './support/postgres.ts';
import { Spender } from './support/spend.ts';

const site = new ConsoleSite();
let spender: Spender;
let db: Db;
let owner: SignedInPerson;
let key: { id: string; key: string };
/** In Unix seconds. */
let secondDay: number;
before(async () => {
  await site.start();
  spender = new Spender(site.gateway.database, site.gateway.clock);
  db = openDb(site.gateway.database.address, silentLog);
  owner = await site.owner();
  key = await site.keyOf(owner);
  for (const kind of Object.keys(RUNS)) {
    const made = await site.made(byKey(key.key), kind);
    if (made.status === 202) await site.ended(owner, made.json.id);
  }
  const body = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hi' }] };
  await site.made(byKey(key.key), 'chat', { body: { ...body, stream: true } });
  await site.run(byKey(key.key), 'chat', { body: { ...body, extra: { sandbox: { fail: 'policy' } } } });
  site.gateway.clock.advance(86_400);
  secondDay = Math.floor(site.gateway.clock.nowMs() / 1000);
  await site.made(byKey(key.key), 'chat');
  await until(async () => (await read('/credits')).reserved === 0);
});
after(async () => {
  await Promise.all([spender.close(), db.close()]);
  await site.stop();
});
afterEach(() => site.gateway.assertBooksBalance());

type Row = Answer['json'];

async function read(path: string, person = owner): Promise<Row> {
  const answer = await person.call('GET', path);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Credits as text to micro-credits, by other arithmetic than the program's. */
function micro(text: string): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text) ?? assert.fail(text);
  return BigInt(`${sign}${whole}${fraction.padEnd(6, '0')}`);
}

const microOf = (credits: number) => BigInt(Math.round(credits * 1e6));
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

async function csv(path: string, person = owner): Promise<Record<string, string>[]> {
  const answer = await person.call('GET', path);
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.headers['content-type'] ?? '', /^text\/csv/);
  const [head = '', ...lines] = answer.text.split('\r\n');
  assert.equal(lines.pop(), '');
  const names = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((field, place) => [names[place], field])));
}

/** Every charge of the account, by the entries themselves. */
async function chargedInLedger(person: SignedInPerson): Promise<bigint> {
  const [row] = await db.rows<{ charged: bigint }>(
    'select sum(charged)::bigint as charged from ledger_entries where account_id = $1',
    [person.accountId],
  );
  return row?.charged ?? 0n;
}

test('R-523: a receipt multiplies out to what was charged, for every kind of work', async () => {
  const rows: Row[] = (await read('/requests?limit=100&state=settled')).data;
  const endpoints = new Set(rows.map(({ endpoint }) => endpoint));
  assert.equal(endpoints.size, 7);
  for (const { id, credits, request_id } of rows) {
    const { receipt } = await read(`/requests/${id}`);
    const { once, units, ratios } = receipt.factors;
    const rated = units.reduce((total: number, { count, per, rate }: Row) => total + (count / per) * rate, 0);
    const total = ratios.reduce((product: number, { ratio }: Row) => product * ratio, rated) + once;
    assert.ok(Math.abs(total - credits) <= 0.000001, `${total} ${credits} ${JSON.stringify(receipt.factors)}`);
    assert.equal(receipt.charged, credits);
    assert.equal(microOf(receipt.held) - microOf(receipt.returned), microOf(receipt.charged));
    assert.deepEqual(
      receipt.entries.map(({ type }: Row) => type),
      ['reserve', 'settle'],
    );
    assert.deepEqual([...new Set(receipt.entries.map((entry: Row) => entry.request_id))], [request_id]);
  }
});

test('R-523: what was refunded has a receipt without units, and what held nothing has none', async () => {
  const [refunded] = (await read('/requests?state=refunded')).data;
  const { receipt } = await read(`/requests/${refunded.id}`);
  assert.deepEqual([receipt.factors, receipt.charged, receipt.held - receipt.returned], [null, 0, 0]);
  assert.deepEqual(
    receipt.entries.map(({ type }: Row) => type),
    ['reserve', 'refund'],
  );
  const [free] = (await read('/requests?endpoint=files')).data;
  assert.equal((await read(`/requests/${free.id}`)).receipt, null);
});

test('R-523: a receipt shows what was charged beyond the hold', async () => {
  const person = await site.owner();
  await spender.spend({ accountId: person.accountId, reserve: 1, settle: 4 });
  const [row] = (await read('/requests', person)).data;
  const { receipt } = await read(`/requests/${row.id}`, person);
  assert.deepEqual([receipt.held, receipt.charged, receipt.returned], [1, 4, 0]);
  assert.deepEqual(
    receipt.entries.map(({ type, charged }: Row) => [type, charged]),
    [
      ['reserve', 0],
      ['settle', 1],
      ['charge', 3],
    ],
  );
});

test('R-523: the CSV of requests is the whole range, and adds up to the ledger', async () => {
  const listed: Row[] = (await read('/requests?limit=100')).data;
  const rows = await csv('/requests?limit=1&format=csv');
  assert.deepEqual(
    rows.map(({ id, credits, status }) => [id, Number(credits), Number(status)]),
    listed.map(({ id, credits, status }) => [id, credits, status]),
  );
  assert.equal(sum(rows.map(({ credits = '' }) => micro(credits))), await chargedInLedger(owner));
  assert.equal((await csv(`/requests?format=csv&since=${secondDay}`)).length, 1);
  const filtered = await csv('/requests?format=csv&endpoint=chat&status=error');
  assert.deepEqual(
    filtered.map(({ error_code }) => error_code),
    ['content_rejected'],
  );
});

test('R-523: an export goes over many pages without a gap', async () => {
  const person = await site.owner();
  const count = EXPORT_ROWS_PER_READ * 2 + 3;
  const firstMs = site.gateway.clock.nowMs() - count;
  await db.run(
    `insert into request_log (id, created_at, account_id, request_id, endpoint, status, duration_ms, streamed, requests)
     select id, now(), $1, 'r' || place, 'chat', 200, 1, false, 1
     from unnest($2::uuid[]) with ordinality as made (id, place)`,
    [person.accountId, Array.from({ length: count }, (_, place) => timedUuid(firstMs + place))],
  );
  const rows = await csv('/requests?format=csv', person);
  assert.deepEqual(
    rows.map(({ request_id }) => request_id),
    Array.from({ length: count }, (_, place) => `r${count - place}`),
  );
});

test('R-523: a spreadsheet takes what callers wrote for text', async () => {
  const person = await site.owner();
  const { key } = await site.keyOf(person, { name: '=cmd' });
  for (const model of ['=1+1', '+1', '-1', '@a', 'a,"b"']) {
    await site.gateway.call('POST', '/v1/chat/completions', {
      key,
      body: { model, messages: [] },
      headers: { 'x-request-id': '=2+2' },
    });
  }
  const { text } = await person.call('GET', '/requests?format=csv');
  const models = text
    .split('\r\n')
    .slice(1, -1)
    .map((line) => /,chat,(.*),key_/.exec(line)?.[1]);
  assert.deepEqual(models, [`"a,""b"""`, `'@a`, `'-1`, `'+1`, `'=1+1`]);
  assert.ok(text.includes(`,'=cmd,`) && text.includes(`,'=2+2,`));
});

test('R-279 R-523: the CSV of the ledger adds up to the balance, whole and by range', async () => {
  await spender.spend({ accountId: owner.accountId, reserve: 3, settle: 1 });
  const rows = await csv('/credits/transactions?format=csv&limit=1');
  const balance = await read('/credits');
  assert.equal(sum(rows.map(({ amount = '' }) => micro(amount))), microOf(balance.available));
  assert.equal(sum(rows.map(({ charged = '' }) => micro(charged))), microOf(balance.spent));
  const [before, since] = await Promise.all([
    csv(`/credits/transactions?format=csv&until=${secondDay}`),
    csv(`/credits/transactions?format=csv&since=${secondDay}`),
  ]);
  assert.deepEqual([...since, ...before], rows);
  assert.ok(before.length > 0 && since.length > 0);
  const listed = (await read(`/credits/transactions?limit=100&since=${secondDay}`)).data;
  assert.deepEqual(
    listed.map(({ id }: Row) => id),
    since.map(({ id }) => id),
  );
});

for (const split of ['model', 'key', 'modality', 'endpoint', 'account'] as const) {
  test(`R-523: usage by day and ${split} adds up to the ledger, to the micro-credit`, async () => {
    const { data, split_by } = await read(`/usage?group_by=day&split_by=${split}`);
    assert.equal(split_by, split);
    const charged = await chargedInLedger(owner);
    assert.equal(sum(data.map(({ credits }: Row) => microOf(credits))), charged);
    const whole = await read(`/usage?group_by=${split}`);
    assert.equal(sum(whole.data.map(({ credits }: Row) => microOf(credits))), charged);
    const days = await read('/usage');
    for (const { group, credits, requests, errors } of days.data) {
      const parts: Row[] = data.filter(({ day }: Row) => day === group);
      assert.equal(sum(parts.map((part) => microOf(part.credits))), microOf(credits));
      assert.equal(
        parts.reduce((total, part) => total + part.requests, 0),
        requests,
      );
      assert.equal(
        parts.reduce((total, part) => total + part.errors, 0),
        errors,
      );
    }
    assert.equal(new Set(data.map(({ day }: Row) => day)).size, 2);
    const rows = await csv(`/usage?group_by=day&split_by=${split}&format=csv`);
    assert.equal(sum(rows.map(({ credits = '' }) => micro(credits))), charged);
    assert.deepEqual(Object.keys(rows[0] ?? {}), ['day', split, 'requests', 'credits', 'errors']);
    const forOperator = await site.gateway.admin('GET', `/usage?split_by=${split}&account=${owner.accountId}`);
    assert.deepEqual(forOperator.json.data, data);
  });
}

test('R-523: usage by modality names those of models, and counts errors where nothing was charged', async () => {
  const { data } = await read('/usage?group_by=modality');
  assert.deepEqual(
    data.map(({ group }: Row) => group),
    ['audio', 'chat', 'image', 'video'],
  );
  assert.equal(data[1].errors, 1);
  assert.equal((await read('/usage?group_by=model&model=no/such')).data.length, 0);
});

test('R-523: usage pages, narrows, and refuses to divide anything but days', async () => {
  const whole = (await read('/usage?split_by=endpoint')).data;
  const walked: Row[] = [];
  for (let next = ''; ; ) {
    const page = await read(`/usage?split_by=endpoint&limit=2${next}`);
    walked.push(...page.data);
    if (!page.has_more) break;
    const { day, group } = walked.at(-1);
    next = `&after=${day},${group}`;
  }
  assert.deepEqual(walked, whole);
  const chats = whole.filter(({ group }: Row) => group === 'chat');
  assert.deepEqual((await read('/usage?split_by=endpoint&endpoint=chat')).data, chats);
  const answer = await owner.call('GET', '/usage?group_by=model&split_by=endpoint');
  assert.deepEqual([answer.status, answer.json.error.param], [400, 'split_by']);
});

test('errors are unknown where the request log does not reach', async () => {
  site.gateway.clock.advance(40 * 86_400);
  const from = Math.floor(site.gateway.clock.nowMs() / 1000) - 50 * 86_400;
  for (const grouping of ['endpoint', 'day']) {
    const { json } = await site.gateway.admin('GET', `/usage?group_by=${grouping}&from=${from}`);
    assert.deepEqual([...new Set(json.data.map(({ errors }: Row) => errors))], [null]);
  }
});
