import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { isApiKeyShape } from '../src/accounts/api-key.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { captureLog, dumpOf } from './support/leaks.ts';
import { until } from './support/postgres.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

function use(key: string, at = gateway): Promise<Answer> {
  return at.call('GET', '/v1/models', { key });
}

function refused(answer: Answer, code: string, status = 401): void {
  assert.deepEqual([answer.status, answer.json.error.code], [status, code]);
}

async function works(key: string, at = gateway): Promise<void> {
  const answer = await use(key, at);
  assert.equal(answer.status, 200, answer.text);
}

function nowSeconds(): number {
  return Math.floor(gateway.clock.nowMs() / 1000);
}

/** An account with this many live keys beside the one of its caller. */
async function withKeys(more: number): Promise<NewCaller> {
  const caller = await gateway.newCaller();
  for (let count = 0; count < more; count++) await newKey(caller.accountId);
  return caller;
}

function newKey(accountId: string, settings: object = {}): Promise<Answer> {
  return gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'one more', ...settings });
}

async function liveKeys(accountId: string): Promise<readonly Record<string, unknown>[]> {
  return (await gateway.admin('GET', `/accounts/${accountId}/keys?limit=100`)).json.data;
}

test('R-085, R-086, R-089: a made key has the published shape, and its record shows four characters of it', async () => {
  const { accountId } = await gateway.newCaller();
  const { json } = await newKey(accountId);
  assert.match(json.key, /^sk-tg1-[0-9A-Za-z]{54}$/);
  assert.ok(isApiKeyShape(json.key));
  assert.equal(json.prefix, json.key.slice(7, 11));
});

test('R-087, R-090: no answer after the first one holds the key', async () => {
  const { accountId } = await gateway.newCaller();
  const made = await newKey(accountId);
  assert.equal(made.headers['cache-control'], 'no-store');
  const secret = made.json.key.slice(7);
  const later = [
    await gateway.admin('GET', `/accounts/${accountId}/keys`),
    await gateway.admin('PATCH', `/keys/${made.json.id}`, { name: 'renamed' }),
    await gateway.admin('GET', `/accounts/${accountId}`),
    await gateway.admin('GET', '/audit?limit=100'),
    await use(made.json.key),
    await gateway.admin('DELETE', `/keys/${made.json.id}`),
    await use(made.json.key),
  ];
  assert.equal(later[0]?.json.data.length, 2);
  for (const { text, headers } of later) {
    const seen = text + JSON.stringify(headers);
    assert.ok(!seen.includes(secret.slice(4, 12)) && !seen.includes(made.json.key), seen);
    assert.ok(!seen.includes('"key":'), seen);
  }
});

test('R-088, R-089: the database and the log hold the digest and the first four characters of a key, and no more', async (t) => {
  const captured = captureLog();
  const logged = await Gateway.start({ log: captured.log });
  t.after(() => logged.stop());
  const { key, keyId } = await logged.newCaller();
  await works(key, logged);
  await logged.admin('PATCH', `/keys/${keyId}`, { disabled: true });
  refused(await use(key, logged), 'key_disabled');
  await logged.admin('DELETE', `/keys/${keyId}`);
  refused(await use(key, logged), 'invalid_api_key');

  const dump = await dumpOf(logged.database);
  assert.ok(dump.includes(createHash('sha256').update(key).digest('hex')));
  assert.match(dump, new RegExp(`${keyId}.*,${key.slice(7, 11)},`));
  await until(() => captured.text().split('/v1/models').length > 3);
  const kept = dump + captured.text();
  const hex = Buffer.from(key).toString('hex');
  const base64 = Buffer.from(key).toString('base64');
  // Any eight characters in a row give a part away and are too many to stand there by chance.
  for (let at = 0; at + 8 <= 54; at++) assert.ok(!kept.includes(key.slice(7 + at, 7 + at + 8)), 'part of the key');
  assert.ok(!kept.includes(hex.slice(20, 40)) && !kept.includes(base64.slice(12, 28)));
});

test('R-091, R-092: the fiftieth key is made, the fifty-first refused', async () => {
  const { accountId } = await withKeys(48);
  assert.equal((await newKey(accountId)).status, 200);
  refused(await newKey(accountId), 'key_limit_reached', 400);
  assert.equal((await liveKeys(accountId)).length, 50);
});

test('R-091: of twenty creations at once at forty-nine keys exactly one succeeds', async () => {
  const { accountId } = await withKeys(48);
  const answers = await Promise.all(Array.from({ length: 20 }, () => newKey(accountId)));
  const made = answers.filter(({ status }) => status === 200);
  assert.equal(made.length, 1);
  for (const answer of answers) if (answer.status !== 200) refused(answer, 'key_limit_reached', 400);
  assert.equal((await liveKeys(accountId)).length, 50);
  await works(made[0]?.json.key);
});

test('R-091: twenty at once on two processes make exactly one as well', async (t) => {
  const other = await Gateway.start({ database: gateway.database, clock: gateway.clock });
  t.after(() => other.stop());
  const { accountId } = await withKeys(48);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, place) =>
      (place % 2 === 0 ? gateway : other).admin('POST', `/accounts/${accountId}/keys`, { name: 'raced' }),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.equal((await liveKeys(accountId)).length, 50);
});

test('R-092: disabled and expired keys count as live, deleted ones do not', async () => {
  const { accountId, keyId } = await withKeys(47);
  assert.equal((await newKey(accountId, { expires_at: 1 })).status, 200);
  assert.equal((await newKey(accountId)).status, 200);
  await gateway.admin('PATCH', `/keys/${keyId}`, { disabled: true });
  refused(await newKey(accountId), 'key_limit_reached', 400);
  await gateway.admin('DELETE', `/keys/${keyId}`);
  assert.equal((await newKey(accountId)).status, 200);
  refused(await newKey(accountId), 'key_limit_reached', 400);
});

test('R-091: the keys of one account leave those of another alone', async () => {
  await withKeys(49);
  const { accountId } = await gateway.newCaller();
  assert.equal((await newKey(accountId)).status, 200);
});

test('R-084: a key without an expiry works for ever', async (t) => {
  const aged = await Gateway.start();
  t.after(() => aged.stop());
  const { key } = await aged.newCaller();
  aged.clock.advance(900 * 365 * 24 * 60 * 60);
  await works(key, aged);
});

test('R-084: a key works until the second before its expiry and not from then on', async () => {
  const expires_at = nowSeconds() + 100;
  const { key, keyId } = await gateway.newCaller({ key: { expires_at } });
  gateway.clock.advance(99.999);
  await works(key);
  gateway.clock.advance(0.001);
  refused(await use(key), 'key_expired');
  await gateway.admin('PATCH', `/keys/${keyId}`, { expires_at: null });
  await works(key);
});

test('R-084: a key made with a past expiry is expired from the start', async () => {
  const { key } = await gateway.newCaller({ key: { expires_at: nowSeconds() - 1 } });
  refused(await use(key), 'key_expired');
});

test('a disabled key is refused until it is enabled again', async () => {
  const { key, keyId } = await gateway.newCaller();
  await works(key);
  await gateway.admin('PATCH', `/keys/${keyId}`, { disabled: true });
  refused(await use(key), 'key_disabled');
  await gateway.admin('PATCH', `/keys/${keyId}`, { name: 'still disabled' });
  refused(await use(key), 'key_disabled');
  await gateway.admin('PATCH', `/keys/${keyId}`, { disabled: false });
  await works(key);
});

test('R-093: a deleted key is refused, no longer listed, and cannot be changed or deleted again', async () => {
  const { accountId, key, keyId } = await gateway.newCaller();
  await works(key);
  const deleted = await gateway.admin('DELETE', `/keys/${keyId}`);
  assert.deepEqual(deleted.json, { id: keyId, object: 'api_key', deleted: true });
  refused(await use(key), 'invalid_api_key');
  assert.deepEqual(await liveKeys(accountId), []);
  refused(await gateway.admin('PATCH', `/keys/${keyId}`, { disabled: false }), 'key_not_found', 404);
  refused(await gateway.admin('DELETE', `/keys/${keyId}`), 'key_not_found', 404);
  refused(await use(key), 'invalid_api_key');
});

test('of ten deletions at once exactly one succeeds', async () => {
  const { keyId } = await gateway.newCaller();
  const answers = await Promise.all(Array.from({ length: 10 }, () => gateway.admin('DELETE', `/keys/${keyId}`)));
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, ...Array<number>(9).fill(404)],
  );
});

test('a key may narrow its account’s groups', async () => {
  const { accountId } = await gateway.newCaller({ groups: ['default', 'empty'] });
  const reach = async (groups: string[] | null) => {
    const { json } = await newKey(accountId, { groups });
    return (await use(json.key)).json.data.length > 0;
  };
  assert.equal(await reach(null), true);
  assert.equal(await reach(['default']), true);
  assert.equal(await reach(['empty']), false);
});

test('last_used_at is the moment of the last accepted use, and is kept when the process stops', async () => {
  const first = await Gateway.start({ database: gateway.database, clock: gateway.clock });
  const { accountId, key } = await first.newCaller();
  const { json: unused } = await newKey(accountId);
  const { json: disabled } = await newKey(accountId);
  await works(key, first);
  gateway.clock.advance(30);
  await works(key, first);
  const usedAt = nowSeconds();
  await gateway.admin('PATCH', `/keys/${disabled.id}`, { disabled: true });
  gateway.clock.advance(30);
  refused(await use(disabled.key, first), 'key_disabled');
  await first.stop();

  const keys = await liveKeys(accountId);
  const lastUsed = Object.fromEntries(keys.map((record) => [record.id, record.last_used_at]));
  assert.equal(lastUsed[unused.id], null);
  assert.equal(lastUsed[disabled.id], null);
  assert.deepEqual(
    Object.values(lastUsed).filter((at) => at !== null),
    [usedAt],
  );
});
