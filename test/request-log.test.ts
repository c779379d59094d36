import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { request } from 'undici';
import { type Db, openDb } from '../src/db/index.ts';
import { atConsole, byKey, ConsoleSite, RUNS } from './support/console-site.ts';
import { createDatabase, silentLog } from './support/database.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import type { SignedInPerson } from './support/people.ts';
import { until } from './support/postgres.ts';
import { Apps } from './support/tokens.ts';

const site = new ConsoleSite();
let db: Db;
before(async () => {
  await site.start();
  db = openDb(site.gateway.database.address, silentLog);
});
after(async () => {
  await db.close();
  await site.stop();
});
afterEach(() => site.gateway.assertBooksBalance());

type Row = Answer['json'];

async function listed({ call }: SignedInPerson, query = ''): Promise<Row[]> {
  const answer = await call('GET', `/requests?limit=100${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json.data;
}

const ENDPOINTS: Readonly<Record<string, string>> = {
  chat: 'chat',
  picture: 'images',
  edit: 'image_edits',
  video: 'videos',
  music: 'audio_music',
  speech: 'audio_speech',
  transcription: 'transcriptions',
  file: 'files',
};
const FREE = ['file'];

for (const kind of Object.keys(ENDPOINTS)) {
  test(`R-523: ${kind} leaves a row with its model, its cost and who asked for it`, async () => {
    const owner = await site.owner();
    const { id: keyId, key } = await site.keyOf(owner, { name: 'robot' });
    const answer = await site.made(byKey(key), kind);
    await site.made(atConsole(owner), kind);
    if (answer.status === 202) await site.ended(owner, answer.json.id);
    const [inConsole, byApi, ...others] = await listed(owner);
    assert.deepEqual(others, []);
    assert.deepEqual([byApi.key_id, byApi.key_name, byApi.person_id], [keyId, 'robot', null]);
    assert.deepEqual([inConsole.key_id, inConsole.key_name, inConsole.person_id], [null, null, owner.id]);
    const isFree = FREE.includes(kind);
    assert.deepEqual(
      [byApi.endpoint, byApi.status, byApi.state, byApi.error_code, byApi.request_id],
      [ENDPOINTS[kind], answer.status, isFree ? null : 'settled', null, answer.headers['x-request-id']],
    );
    assert.equal(byApi.job_id, answer.status === 202 ? answer.json.id : null);
    assert.equal(byApi.credits > 0, !isFree);
    const body = RUNS[kind]?.[1].body as { model?: string } | undefined;
    if (body !== undefined) assert.equal(byApi.model, body.model);
    assert.equal(typeof byApi.model, kind === 'file' ? 'object' : 'string');
    const [forOperator] = (await site.gateway.admin('GET', `/requests?request_id=${byApi.request_id}`)).json.data;
    assert.equal(forOperator.account_id, owner.accountId);
    assert.equal(forOperator.upstream === null, isFree, forOperator.upstream);
    assert.equal('upstream' in byApi, false);
  });
}

test('an estimate leaves no row: a form asks for one at every change', async () => {
  const owner = await site.owner();
  await site.made(atConsole(owner), 'estimate');
  assert.deepEqual(await listed(owner), []);
});

test('R-523: what was refused leaves a row with its code: body, model, credits, upstream', async () => {
  const owner = await site.owner(0);
  const { key } = await site.keyOf(owner);
  const chat = (body: object) => site.gateway.call('POST', '/v1/chat/completions', { key, body });
  await chat({ model: 'sandbox/chat' });
  await chat({ model: 'no/such', messages: [{ role: 'user', content: 'x' }] });
  await chat({ model: 'sandbox/chat', messages: [{ role: 'user', content: 'x' }] });
  await site.gateway.call('POST', '/v1/chat/completions', {
    key,
    raw: '{',
    headers: { 'content-type': 'application/json' },
  });
  await site.gateway.call('POST', '/v1beta/models/no%2Fsuch:generateContent', { key, body: { contents: [] } });
  const rows = await listed(owner);
  assert.deepEqual(
    rows.map(({ endpoint, model, status, error_code, state }: Row) => [endpoint, model, status, error_code, state]),
    [
      ['native', 'no/such', 404, 'model_not_found', null],
      ['chat', null, 400, 'invalid_json', null],
      ['chat', 'sandbox/chat', 402, 'insufficient_credits', null],
      ['chat', 'no/such', 404, 'model_not_found', null],
      ['chat', 'sandbox/chat', 400, 'missing_messages', null],
    ],
  );
  assert.deepEqual(await listed(owner, '&status=error'), rows);
  assert.deepEqual(await listed(owner, '&status=ok'), []);
  assert.deepEqual(await listed(owner, '&code=insufficient_credits'), [rows[2]]);
});

test('a model’s name that no database takes is stored in part and readable', async () => {
  const owner = await site.owner();
  const { key } = await site.keyOf(owner);
  for (const model of ['a\0b\ud800c', 'm'.repeat(5000)]) {
    await site.gateway.call('POST', '/v1/chat/completions', { key, body: { model, messages: [] } });
  }
  const rows = await listed(owner);
  assert.deepEqual(
    rows.map(({ model }: Row) => model),
    ['m'.repeat(200), 'a\ufffdb\ufffdc'],
  );
});

test('reads leave no row, and neither does what has no account', async () => {
  const owner = await site.owner();
  const { key } = await site.keyOf(owner);
  for (const path of ['/v1/models', '/v1/credits', '/v1/jobs']) await site.gateway.call('GET', path, { key });
  await site.run(byKey('sk-tg1-unknown'), 'chat');
  await owner.call('GET', '/credits');
  assert.deepEqual(await listed(owner), []);
});

test('R-523: refusals by rate are one row per key, route, code and minute, which counts them', async () => {
  const owner = await site.owner();
  const { key } = await site.keyOf(owner, { rpm: 1 });
  await site.made(byKey(key), 'chat');
  for (let count = 0; count < 5; count++) assert.equal((await site.run(byKey(key), 'chat')).status, 429);
  assert.equal((await listed(owner, '&code=rate_limited'))[0].requests, 5);
  for (let count = 0; count < 2; count++) await site.run(byKey(key), 'chat');
  await site.run(byKey(key), 'picture');
  const rows = await listed(owner, '&code=rate_limited');
  assert.deepEqual(
    rows.map(({ endpoint, requests, status }: Row) => [endpoint, requests, status]),
    [
      ['images', 1, 429],
      ['chat', 7, 429],
    ],
  );
  const usage = await owner.call('GET', '/usage?group_by=endpoint');
  assert.deepEqual(
    usage.json.data.map(({ group, requests, errors }: Row) => [group, requests, errors]),
    [
      ['chat', 1, 7],
      ['images', 0, 1],
    ],
  );
  site.gateway.clock.advance(60);
  await site.made(byKey(key), 'chat');
  await site.run(byKey(key), 'chat');
  assert.equal((await listed(owner, '&code=rate_limited')).length, 3);
});

test('a token without the scope is refused in one row', async () => {
  const apps = await Apps.open(site.gateway);
  const owner = await site.owner();
  const token = await apps.newToken(owner.accountId, { scopes: ['user:credits'] });
  for (let count = 0; count < 3; count++) await site.run(byKey(token), 'chat');
  await apps.close();
  const [row, ...others] = await listed(owner);
  assert.deepEqual([others, row.error_code, row.requests], [[], 'insufficient_scope', 3]);
  assert.match(row.key_id, /^oag_/);
  assert.ok(row.key_name.length > 0);
});

test('R-523: a stream says that it was one, and why it broke off', async () => {
  const owner = await site.owner();
  const { key } = await site.keyOf(owner);
  const body = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hi' }], stream: true };
  const cut = { ...body, extra: { sandbox: { fail: 'down', fail_after_frames: 1 } } };
  for (const sent of [body, cut]) await site.gateway.call('POST', '/v1/chat/completions', { key, body: sent });
  await until(async () => (await listed(owner, '&state=settled')).length === 2);
  const rows = await listed(owner);
  assert.deepEqual(
    rows.map(({ streamed, status, error_code }: Row) => [streamed, status, error_code]),
    [
      [true, 200, 'upstream_failed'],
      [true, 200, null],
    ],
  );
  assert.deepEqual(await listed(owner, '&status=error'), [rows[0]]);
});

test('R-523: a caller who leaves has a row that says so', async () => {
  const owner = await site.owner();
  const { key } = await site.keyOf(owner);
  const leaving = new AbortController();
  const answer = request(`${site.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...(RUNS.chat?.[1].body as object), extra: { sandbox: { delay_ms: 20_000 } } }),
    signal: leaving.signal,
  });
  await until(async () => (await owner.call('GET', '/credits')).json.reserved > 0);
  leaving.abort();
  await assert.rejects(answer);
  await until(async () => (await listed(owner, '&state=refunded')).length === 1);
  const [row] = await listed(owner);
  assert.deepEqual([row.error_code, row.streamed, row.credits], ['request_canceled', false, 0]);
});

test('R-523: a job that fails later has its code in the row of its request', async () => {
  const owner = await site.owner();
  const { key } = await site.keyOf(owner);
  const body = { model: 'sandbox/image', prompt: 'x', size: '256x256', extra: { sandbox: { fail: 'policy' } } };
  const { id } = (await site.made(byKey(key), 'picture', { body })).json;
  assert.equal((await site.ended(owner, id)).status, 'failed');
  const [row, ...others] = await listed(owner, '&status=error&code=content_rejected&state=refunded');
  assert.deepEqual([others, row.status, row.state, row.credits], [[], 202, 'refunded', 0]);
  assert.deepEqual(await listed(owner, '&status=ok'), []);
});

test('R-523: two requests under one id are two rows, each with its own cost', async () => {
  const owner = await site.owner();
  const { key } = await site.keyOf(owner);
  const headers = { 'x-request-id': 'same' };
  await site.made(byKey(key), 'chat', { headers });
  await site.made(byKey(key), 'speech', { headers });
  const [speech, chat, ...others] = await listed(owner, '&request_id=same');
  assert.deepEqual(others, []);
  assert.notEqual(speech.id, chat.id);
  assert.deepEqual([speech.credits, speech.endpoint, chat.endpoint], [2, 'audio_speech', 'chat']);
  assert.notEqual(chat.credits, 2);
});

test('a repeated create call is a row of its own, and costs nothing of its own', async () => {
  const owner = await site.owner();
  const { key } = await site.keyOf(owner);
  const headers = { 'idempotency-key': 'once' };
  const { id } = (await site.made(byKey(key), 'picture', { headers })).json;
  await site.ended(owner, id);
  await site.made(byKey(key), 'picture', { headers });
  const [again, first] = await listed(owner);
  assert.deepEqual([again.job_id, again.state, again.credits], [id, null, 0]);
  assert.deepEqual([first.job_id, first.state], [id, 'settled']);
});

test('what was gathered is written when the process stops', async () => {
  const owner = await site.owner();
  const { key } = await site.keyOf(owner);
  const { database, clock } = site.gateway;
  const other = await Gateway.start({ database, clock });
  await other.call('POST', '/v1/chat/completions', { key, body: { model: 'sandbox/chat' } });
  await other.stop();
  const [row] = await db.rows<{ count: number }>(
    'select count(*)::int as count from request_log where account_id = $1',
    [owner.accountId],
  );
  assert.equal(row?.count, 1);
});

test('rows go after their days, and none are made where there are none', async () => {
  const database = await createDatabase();
  const gateway = await Gateway.start({ database, settings: { TOLLGATE_REQUEST_LOG_DAYS: '2' } });
  const { clock } = gateway;
  const caller = await gateway.newCaller({ key: { rpm: 1000 } });
  const body = { model: 'no/such', messages: [] };
  const refuse = (on: Gateway) => on.call('POST', '/v1/chat/completions', { key: caller.key, body });
  const count = async () => (await gateway.admin('GET', '/requests')).json.data.length;
  await refuse(gateway);
  clock.advance(86_400);
  await refuse(gateway);
  assert.equal(await count(), 2);
  clock.advance(86_401);
  const settings = { TOLLGATE_REQUEST_LOG_DAYS: '2' };
  await (await Gateway.start({ database, clock, settings })).stop();
  assert.equal(await count(), 1);
  const silent = await Gateway.start({ database, clock, settings: { TOLLGATE_REQUEST_LOG_DAYS: '0' } });
  await refuse(silent);
  const { data } = (await silent.admin('GET', '/usage')).json;
  assert.deepEqual(data, []);
  await silent.stop();
  assert.equal(await count(), 0);
  await gateway.stop();
  await database.drop();
});
