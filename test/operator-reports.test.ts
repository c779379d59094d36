import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Answer, NewCaller } from './support/gateway.ts';
import { Spender } from './support/spend.ts';
import { IMAGE_PRICE, imageModel, Studio } from './support/studio.ts';

const studio = new Studio();
let spender: Spender;
let ada: NewCaller;
let bob: NewCaller;
let firstDay: number;
let pictures: { readonly id: string }[] = [];

const DAY = 86_400;

before(async () => {
  await studio.start();
  const { gateway } = studio;
  const wide = imageModel('studio/wide', [{ upstream: 'direct', model: 'gpt-image-1' }]);
  await gateway.putConfig(studio.document({}, [wide]));
  spender = new Spender(gateway.database, gateway.clock);
  ada = await gateway.newCaller({ key: { rpm: 1_000_000 } });
  bob = await gateway.newCaller({ key: { rpm: 1_000_000 } });
  for (const { accountId } of [ada, bob]) await done('POST', `/accounts/${accountId}/grants`, { credits: 10_000 });
  firstDay = now();
  const call = (caller: NewCaller, model: string, settle?: number) =>
    spender.spend({
      accountId: caller.accountId,
      keyId: caller.keyId,
      model,
      reserve: 10,
      ...(settle === undefined ? {} : { settle }),
    });
  await call(ada, 'test/one', 3);
  await call(ada, 'test/two', 4);
  await call(bob, 'test/one', 5);
  gateway.clock.advance(DAY);
  await call(bob, 'test/two', 6);
  await call(bob, 'test/two', 0);
  pictures = [await picture(ada, 'studio/direct'), await picture(bob, 'studio/wide')];
  await call(ada, 'test/one');
});
after(async () => {
  await spender.close();
  await studio.stop();
});
afterEach(() => studio.gateway.assertBooksBalance());

function now(): number {
  return Math.floor(studio.gateway.clock.nowMs() / 1000);
}

async function picture(caller: NewCaller, model: string): Promise<{ id: string }> {
  const job = await studio.create(caller, '/v1/images/generations', { model, prompt: 'a gate' });
  return studio.ended(caller, job.id);
}

async function done(method: string, path: string, body?: unknown): Promise<Answer['json']> {
  const answer = await studio.gateway.admin(method, path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

function refused(answer: Answer, param: string): void {
  const { error } = answer.json;
  assert.deepEqual([answer.status, error?.code, error?.param], [400, 'invalid_parameter', param], answer.text);
}

const usage = (query: string) => done('GET', `/usage?${query}`);
const shown = ({ data }: Answer['json']) =>
  Object.fromEntries(data.map((row: Answer['json']) => [row.group, [row.requests, row.credits]]));

test('usage of all accounts adds up by account, key, model, endpoint and day', async () => {
  const [adas, bobs] = [3 + 4 + IMAGE_PRICE, 5 + 6 + IMAGE_PRICE];
  const byAccount = shown(await usage('group_by=account'));
  assert.deepEqual(byAccount, { [ada.accountId]: [3, adas], [bob.accountId]: [3, bobs] });
  assert.deepEqual(shown(await usage('group_by=key')), { [ada.keyId]: [3, adas], [bob.keyId]: [3, bobs] });
  assert.deepEqual(shown(await usage('group_by=model')), {
    'studio/direct': [1, IMAGE_PRICE],
    'studio/wide': [1, IMAGE_PRICE],
    'test/one': [2, 8],
    'test/two': [2, 10],
  });
  assert.deepEqual(shown(await usage('group_by=endpoint')), { chat: [4, 18], images: [2, 2 * IMAGE_PRICE] });
  const days = Object.values(shown(await usage('')));
  assert.deepEqual(days, [
    [3, 12],
    [3, 6 + 2 * IMAGE_PRICE],
  ]);
});

test('usage can be narrowed by account, key, model, endpoint and time', async () => {
  assert.deepEqual(shown(await usage(`group_by=model&account=${ada.accountId}&endpoint=chat`)), {
    'test/one': [1, 3],
    'test/two': [1, 4],
  });
  assert.deepEqual(shown(await usage(`group_by=account&key=${bob.keyId}&model=test/two`)), { [bob.accountId]: [1, 6] });
  const early = `from=${firstDay}&to=${firstDay + 60}`;
  assert.deepEqual(shown(await usage(`group_by=account&${early}`)), {
    [ada.accountId]: [2, 7],
    [bob.accountId]: [1, 5],
  });
  assert.deepEqual(shown(await usage('group_by=model&account=acct_none')), {});
});

test('usage pages by its groups, and comes as CSV', async () => {
  const first = await usage('group_by=model&limit=3');
  assert.deepEqual([first.data.length, first.has_more], [3, true]);
  const rest = await usage(`group_by=model&limit=3&after=${first.data[2].group}`);
  assert.deepEqual([rest.data.map((row: Answer['json']) => row.group), rest.has_more], [['test/two'], false]);
  const { headers, text } = await studio.gateway.admin('GET', '/usage?group_by=endpoint&format=csv');
  assert.match(headers['content-type'] ?? '', /^text\/csv/);
  assert.equal(text, `endpoint,requests,credits,errors\r\nchat,4,18,1\r\nimages,2,${2 * IMAGE_PRICE},0\r\n`);
});

test('usage refuses what it does not know, and a limit out of its bounds', async () => {
  const ask = (query: string) => studio.gateway.admin('GET', `/usage?${query}`);
  refused(await ask('group_by=vendor'), 'group_by');
  refused(await ask('group_by=upstream&split_by=model'), 'split_by');
  refused(await ask('group_by=day&split_by=upstream'), 'split_by');
  refused(await ask('acount=x'), 'acount');
  refused(await ask('limit=0'), 'limit');
  refused(await ask('limit=10001'), 'limit');
  assert.equal((await ask('limit=10000')).status, 200);
  refused(await ask(`from=${firstDay}&to=${firstDay}`), 'from');
});

const requests = async (query: string) => (await done('GET', `/requests?${query}`)).data;
const models = (rows: readonly Answer['json'][]) => rows.map(({ model }) => model);

test('requests of all accounts are listed newest first, with what was held and charged', async () => {
  const rows = await requests('');
  assert.deepEqual(models(rows), [
    'test/one',
    'studio/wide',
    'studio/direct',
    'test/two',
    'test/two',
    'test/one',
    'test/two',
    'test/one',
  ]);
  const [open, drawn, , refunded, settled] = rows;
  assert.deepEqual([drawn.job_id, drawn.endpoint, drawn.credits], [pictures[1]?.id, 'images', IMAGE_PRICE]);
  assert.deepEqual([drawn.status, drawn.upstream], [202, 'direct']);
  assert.deepEqual([open.state, open.held, open.credits], ['running', 10, 0]);
  assert.deepEqual([refunded.state, refunded.held, refunded.credits], ['refunded', 0, 0]);
  assert.deepEqual([refunded.status, refunded.error_code], [502, 'upstream_failed']);
  assert.deepEqual(settled, {
    id: settled.id,
    object: 'request',
    request_id: settled.request_id,
    account_id: bob.accountId,
    key_id: bob.keyId,
    key_name: 'test',
    person_id: null,
    job_id: null,
    model: 'test/two',
    endpoint: 'chat',
    status: 200,
    state: 'settled',
    error_code: null,
    duration_ms: 5,
    streamed: false,
    requests: 1,
    held: 0,
    credits: 6,
    created_at: settled.created_at,
    upstream: 'elsewhere',
    cost: null,
  });
});

test('requests can be narrowed by every filter', async () => {
  assert.equal((await requests(`account=${ada.accountId}`)).length, 4);
  assert.equal((await requests(`key=${bob.keyId}`)).length, 4);
  assert.deepEqual(await requests('key=key_none'), []);
  assert.equal((await requests('model=test/one')).length, 3);
  assert.equal((await requests('endpoint=images')).length, 2);
  assert.deepEqual(models(await requests('state=running')), ['test/one']);
  assert.deepEqual(models(await requests(`state=refunded&account=${bob.accountId}`)), ['test/two']);
  assert.equal((await requests('state=settled')).length, 6);
  assert.deepEqual(models(await requests('status=error')), ['test/two']);
  assert.equal((await requests('status=ok')).length, 7);
  assert.deepEqual(models(await requests('code=upstream_failed')), ['test/two']);
  assert.deepEqual(await requests('code=rate_limited'), []);
  assert.equal((await requests(`until=${firstDay + 60}`)).length, 3);
  assert.equal((await requests(`since=${firstDay + 60}&account=${bob.accountId}`)).length, 3);
  const [one] = await requests('state=settled&model=test/two');
  assert.deepEqual(await requests(`request_id=${one.request_id}`), [one]);
  assert.deepEqual(await requests(`request_id=${one.request_id}&state=settled&status=ok`), [one]);
  assert.deepEqual(await requests(`request_id=${one.request_id}&state=refunded`), []);
  assert.deepEqual(await requests(`request_id=${one.request_id}&account=${ada.accountId}`), []);
});

test('R-525: the operator reads a receipt of any account, and none of what is not there', async () => {
  const [one] = await requests('state=settled&model=test/two');
  const { receipt, ...row } = await done('GET', `/requests/${one.id}`);
  assert.deepEqual(row, one);
  assert.deepEqual([receipt.held, receipt.charged, receipt.returned], [10, 6, 4]);
  assert.deepEqual(receipt.factors.units, [{ unit: 'requests', rate: 1, per: 1, count: 6 }]);
  for (const id of [one.id.replace(/.$/, (digit: string) => (digit === '0' ? '1' : '0')), 'none']) {
    const answer = await studio.gateway.admin('GET', `/requests/${id}`);
    assert.deepEqual([answer.status, answer.json.error.code], [404, 'request_not_found']);
  }
});

test('requests page without a gap, over all accounts and of one', async () => {
  for (const filter of ['', `&account=${ada.accountId}`]) {
    const whole = await requests(`limit=100${filter}`);
    for (const limit of [1, 3]) {
      const walked: Answer['json'][] = [];
      for (let next = ''; ; ) {
        const page = await done('GET', `/requests?limit=${limit}${filter}${next}`);
        walked.push(...page.data);
        if (!page.has_more) break;
        next = `&after=${walked.at(-1).id}`;
      }
      assert.deepEqual(walked, whole);
    }
  }
  refused(await studio.gateway.admin('GET', '/requests?after=req_none'), 'after');
  refused(await studio.gateway.admin('GET', '/requests?status=failed'), 'status');
});

const jobs = async (query: string) => (await done('GET', `/jobs?${query}`)).data;

test('jobs of all accounts are listed newest first, with the upstreams that were asked', async () => {
  const rows = await jobs('');
  assert.deepEqual(
    rows.map(({ id }: { id: string }) => id),
    pictures.map(({ id }) => id).reverse(),
  );
  const [job] = rows;
  assert.deepEqual([job.account_id, job.key_id, job.endpoint], [bob.accountId, bob.keyId, 'images']);
  assert.deepEqual(job.attempts, [{ upstream: 'direct', model: 'gpt-image-1', state: 'collected', error_code: null }]);
  const own = await studio.gateway.call('GET', `/v1/jobs/${job.id}`, { key: bob.key });
  assert.ok(!own.text.includes('attempts'), own.text);
});

test('jobs can be narrowed by every filter, and page', async () => {
  const [second, first] = await jobs('');
  assert.deepEqual(await jobs(`account=${ada.accountId}`), [first]);
  assert.deepEqual(await jobs(`key=${bob.keyId}`), [second]);
  assert.deepEqual(await jobs('model=studio/direct'), [first]);
  assert.deepEqual(await jobs('endpoint=images&kind=image&status=succeeded'), [second, first]);
  assert.deepEqual(await jobs('status=failed'), []);
  assert.deepEqual(await jobs('code=upstream_failed'), []);
  assert.deepEqual(await jobs(`request_id=${first.request_id}`), [first]);
  assert.deepEqual(await jobs(`until=${firstDay + 60}`), []);
  assert.deepEqual(await jobs(`since=${firstDay + 60}`), [second, first]);
  const page = await done('GET', '/jobs?limit=1');
  assert.deepEqual([page.data, page.has_more], [[second], true]);
  assert.deepEqual(await jobs(`limit=1&after=${second.id}`), [first]);
  refused(await studio.gateway.admin('GET', '/jobs?after=job_none'), 'after');
  refused(await studio.gateway.admin('GET', '/jobs?kind=text'), 'kind');
  refused(await studio.gateway.admin('GET', '/jobs?stat=failed'), 'stat');
});
