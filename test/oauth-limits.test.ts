import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type Answer, Gateway } from './support/gateway.ts';
import { until } from './support/postgres.ts';
import { IMAGES, Studio } from './support/studio.ts';
import { Apps } from './support/tokens.ts';
import { longCatalogue, UnreadRequest } from './support/unread.ts';

let gateway: Gateway;
let apps: Apps;
before(async () => {
  gateway = await Gateway.start();
  apps = await Apps.open(gateway);
  await gateway.putConfig(longCatalogue());
});
after(async () => {
  await apps.close();
  await gateway.stop();
});
afterEach(() => gateway.assertBooksBalance());

async function newAccount(limits?: object): Promise<string> {
  const { json } = await gateway.admin('POST', '/accounts', { name: 'Test' });
  if (limits !== undefined) await limit(json.id, limits);
  return json.id;
}

async function limit(accountId: string, limits: object): Promise<void> {
  const answer = await gateway.admin('PATCH', `/accounts/${accountId}`, { limits });
  assert.equal(answer.status, 200, answer.text);
}

function ask(key: string, at = gateway): Promise<Answer> {
  return at.call('GET', '/v1/models/long/1', { key });
}

async function spend(key: string, times: number, at = gateway): Promise<void> {
  for (let time = 0; time < times; time++) assert.equal((await ask(key, at)).status, 200, `request ${time + 1}`);
}

async function refusedFor(key: string, code: string, at = gateway): Promise<void> {
  const answer = await ask(key, at);
  assert.deepEqual([answer.status, answer.json.error?.code], [429, code], answer.text);
}

test('R-119, R-120: two tokens of one account share one bucket of 60, and the 61st request is refused to both', async () => {
  const accountId = await newAccount();
  const [one, other] = [await apps.newToken(accountId), await apps.newToken(accountId)];
  await spend(one, 30);
  await spend(other, 30);
  await refusedFor(one, 'rate_limited');
  await refusedFor(other, 'rate_limited');
  gateway.clock.advance(0.999);
  await refusedFor(one, 'rate_limited');
  gateway.clock.advance(0.001);
  await spend(other, 1);
  await refusedFor(one, 'rate_limited');
});

test('R-119: a new token of the same grant brings no new bucket, and another account has its own', async () => {
  const grant = await apps.grant(await newAccount());
  await spend(await apps.token(grant), 60);
  await refusedFor(await apps.token(grant), 'rate_limited');
  await spend(await apps.newToken(await newAccount()), 1);
});

test('R-118, R-119: tokens and keys of one account take nothing from each other', async () => {
  const { accountId, key } = await gateway.newCaller({ key: { rpm: 1, concurrency: 1 } });
  const token = await apps.newToken(accountId);
  await spend(key, 1);
  await refusedFor(key, 'rate_limited');
  await spend(token, 60);
  await refusedFor(token, 'rate_limited');
  gateway.clock.advance(60);
  await spend(key, 1);
});

test('R-119, R-120: 15 requests of all tokens of an account run at once and the 16th is refused', async () => {
  const accountId = await newAccount();
  const tokens = [await apps.newToken(accountId), await apps.newToken(accountId)];
  const held: UnreadRequest[] = [];
  for (let slot = 0; slot < 15; slot++) held.push(await UnreadRequest.send(gateway, tokens[slot % 2] ?? ''));
  for (const token of tokens) await refusedFor(token, 'too_many_concurrent_requests');
  const { key } = (await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'key' })).json;
  await spend(key, 1);
  for (const request of held) request.drop();
  await until(async () => (await ask(tokens[0] ?? '')).status === 200);
});

test('R-120: an account’s own limits take the place of the default for its tokens, above and below it, at once', async () => {
  const accountId = await newAccount({ rpm: 2, concurrency: 1 });
  const token = await apps.newToken(accountId);
  const held = await UnreadRequest.send(gateway, token);
  await refusedFor(token, 'too_many_concurrent_requests');
  await limit(accountId, { concurrency: null });
  await spend(token, 1);
  await refusedFor(token, 'rate_limited');
  held.drop();
  const quick = await apps.newToken(await newAccount({ rpm: 70 }));
  await spend(quick, 70);
  await refusedFor(quick, 'rate_limited');
});

test('R-120: a deployment sets the limits of tokens, and they are not those of keys', async () => {
  const settings = { TOLLGATE_TOKEN_RPM: '2', TOLLGATE_TOKEN_CONCURRENCY: '1', TOLLGATE_RPM: '4' };
  const strict = await Gateway.start({ database: gateway.database, clock: gateway.clock, settings });
  try {
    const { accountId, key } = await gateway.newCaller();
    const token = await apps.newToken(accountId);
    const held = await UnreadRequest.send(strict, token);
    await refusedFor(token, 'too_many_concurrent_requests', strict);
    held.drop();
    await until(async () => (await ask(token, strict)).status === 200);
    await refusedFor(token, 'rate_limited', strict);
    await spend(key, 4, strict);
    await refusedFor(key, 'rate_limited', strict);
  } finally {
    await strict.stop();
  }
});

test('R-503: an account has 64 open jobs over its keys and its grants to apps, however they come', async () => {
  // Its tasks never end.
  const studio = new Studio();
  await studio.start({ settings: { TOLLGATE_TOKEN_RPM: '1000', TOLLGATE_TOKEN_CONCURRENCY: '1000' } });
  const own = await Apps.open(studio.gateway);
  try {
    const { accountId, key } = await studio.gateway.newCaller({ key: { rpm: 1000, concurrency: 1000 } });
    await studio.gateway.admin('POST', `/accounts/${accountId}/grants`, { credits: 100_000 });
    const callers = [key, await own.newToken(accountId), await own.newToken(accountId)];
    const body = { model: 'studio/queue', prompt: 'a gate' };
    const create = (by: string) => studio.gateway.call('POST', IMAGES, { key: by, body });
    const answers = await Promise.all(Array.from({ length: 90 }, (_, place) => create(callers[place % 3] ?? key)));
    assert.equal(answers.filter(({ status }) => status === 202).length, 64);
    for (const { status, json } of answers.filter((answer) => answer.status !== 202)) {
      assert.deepEqual([status, json.error.code], [429, 'media_open_job_capacity']);
    }
    for (const by of callers) assert.equal((await create(by)).json.error.code, 'media_open_job_capacity');
    await studio.gateway.assertBooksBalance();
  } finally {
    await own.close();
    await studio.stop();
  }
});
