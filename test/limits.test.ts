import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { pino } from 'pino';
import { openDb } from '../src/db/index.ts';
import { silentLog } from './support/database.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { until } from './support/postgres.ts';
import { longCatalogue, UnreadRequest } from './support/unread.ts';

let gateway: Gateway;
const logged: string[] = [];

before(async () => {
  gateway = await Gateway.start({ log: pino({ level: 'info' }, { write: (line) => void logged.push(line) }) });
  await gateway.putConfig(longCatalogue());
});

after(() => gateway.stop());

afterEach(() => gateway.assertBooksBalance());

test('R-499: 60 requests at once pass and the 61st is refused', async () => {
  const caller = await gateway.newCaller();
  await spend(caller, 60);
  assertRateLimited(await ask(caller));
});

test('R-499: an empty bucket passes one more after one second, and not a millisecond before', async () => {
  const caller = await gateway.newCaller();
  await spend(caller, 60);
  gateway.clock.advance(0.999);
  assertRateLimited(await ask(caller));
  gateway.clock.advance(0.001);
  assert.equal((await ask(caller)).status, 200);
  assertRateLimited(await ask(caller));
});

test('R-499: a bucket fills evenly: after ten seconds ten more pass', async () => {
  const caller = await gateway.newCaller();
  await spend(caller, 60);
  for (let second = 0; second < 10; second++) gateway.clock.advance(1);
  await spend(caller, 10);
  assertRateLimited(await ask(caller));
});

test('R-499: a bucket never holds more than a minute’s worth', async () => {
  const caller = await gateway.newCaller();
  await spend(caller, 1);
  gateway.clock.advance(24 * 60 * 60);
  await spend(caller, 60);
  assertRateLimited(await ask(caller));
});

test('R-519: six jobs, looked at after five seconds and then every ten, never meet the limit', async () => {
  const caller = await gateway.newCaller();
  gateway.clock.advance(5);
  for (let look = 0; look < 60; look++) {
    await spend(caller, 6);
    gateway.clock.advance(10);
  }
});

test('R-499: each key of an account has a bucket of its own', async () => {
  const caller = await gateway.newCaller({ key: { rpm: 1 } });
  const other = await gateway.admin('POST', `/accounts/${caller.accountId}/keys`, { name: 'other', rpm: 1 });
  assert.equal((await ask(caller)).status, 200);
  assertRateLimited(await ask(caller));
  assert.equal((await ask({ key: other.json.key })).status, 200);
});

test('R-500: what is over the rate is refused at once and never waits for its turn', async () => {
  const caller = await gateway.newCaller({ key: { rpm: 1 } });
  await spend(caller, 1);
  // The clock stands still: whoever waited for the bucket to fill would never be answered.
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(caller)));
  for (const answer of answers) assertRateLimited(answer);
});

test('a refused request takes nothing from the bucket', async () => {
  const caller = await gateway.newCaller();
  await spend(caller, 60);
  for (let refused = 0; refused < 20; refused++) assertRateLimited(await ask(caller));
  gateway.clock.advance(1);
  assert.equal((await ask(caller)).status, 200);
});

test('a clock that is set back neither fills nor empties a bucket', async () => {
  const caller = await gateway.newCaller({ key: { rpm: 2 } });
  await spend(caller, 1);
  gateway.clock.advance(-3600);
  await spend(caller, 1);
  assertRateLimited(await ask(caller));
  gateway.clock.advance(3600);
});

test('R-506: requests that are refused for what they ask consume the rate', async () => {
  const caller = await gateway.newCaller({ key: { rpm: 3 } });
  for (let wrong = 0; wrong < 3; wrong++) {
    assert.equal((await ask(caller, '/v1/models/no/such')).json.error.code, 'model_not_found');
  }
  assertRateLimited(await ask(caller));
});

test('a credential that is not accepted takes nothing from anybody’s bucket', async () => {
  const caller = await gateway.newCaller({ key: { rpm: 1 } });
  await gateway.admin('PATCH', `/keys/${caller.keyId}`, { disabled: true });
  for (let wrong = 0; wrong < 3; wrong++) assert.equal((await ask(caller)).json.error.code, 'key_disabled');
  await gateway.admin('PATCH', `/keys/${caller.keyId}`, { disabled: false });
  assert.equal((await ask(caller)).status, 200);
});

test('R-502: a key’s own rate takes the place of the default, above and below it', async () => {
  const slow = await gateway.newCaller({ key: { rpm: 2 } });
  await spend(slow, 2);
  assertRateLimited(await ask(slow));
  gateway.clock.advance(29.999);
  assertRateLimited(await ask(slow));
  gateway.clock.advance(0.001);
  await spend(slow, 1);
  const quick = await gateway.newCaller({ key: { rpm: 100 } });
  await spend(quick, 100);
  assertRateLimited(await ask(quick));
});

test('R-502: a changed rate counts from the next request on', async () => {
  const caller = await gateway.newCaller();
  await spend(caller, 1);
  await gateway.admin('PATCH', `/keys/${caller.keyId}`, { rpm: 1 });
  await spend(caller, 1);
  assertRateLimited(await ask(caller));
  await gateway.admin('PATCH', `/keys/${caller.keyId}`, { rpm: null });
  assertRateLimited(await ask(caller));
  gateway.clock.advance(60);
  await spend(caller, 60);
  assertRateLimited(await ask(caller));
});

test('R-502: a deployment sets the defaults of all keys that have none of their own', async () => {
  const settings = { TOLLGATE_RPM: '3', TOLLGATE_CONCURRENCY: '1' };
  const strict = await Gateway.start({ database: gateway.database, clock: gateway.clock, settings });
  try {
    const caller = await gateway.newCaller();
    const held = await UnreadRequest.send(strict, caller.key);
    assertTooMany(await ask(caller, '/v1/models/long/1', strict));
    held.drop();
    await untilFree(caller, strict);
    await spend(caller, 1, strict);
    assertRateLimited(await ask(caller, '/v1/models/long/1', strict));
    const own = await gateway.newCaller({ key: { rpm: 5 } });
    await spend(own, 5, strict);
    assertRateLimited(await ask(own, '/v1/models/long/1', strict));
  } finally {
    await strict.stop();
  }
});

for (const [field, most] of [
  ['rpm', 1_000_000],
  ['concurrency', 100_000],
] as const) {
  test(`R-502: a key’s ${field} goes from 1 to ${most}`, async () => {
    const { accountId } = await gateway.newCaller();
    for (const allowed of [1, most]) {
      const made = await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'key', [field]: allowed });
      assert.equal(made.json[field], allowed);
    }
    for (const wrong of [0, -1, most + 1, 1.5, '5']) {
      const made = await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'key', [field]: wrong });
      assert.equal(made.json.error?.code, 'invalid_parameter', `${field} ${wrong}`);
    }
  });
}

test('R-501: 15 requests run at once and the 16th is refused', async () => {
  const caller = await gateway.newCaller();
  const held = await hold(caller, 15);
  assertTooMany(await ask(caller));
  assertTooMany(await ask(caller));
  for (const request of held) request.drop();
  await untilFree(caller);
});

const endings: readonly [how: string, end: (request: UnreadRequest) => unknown][] = [
  ['ends', (request) => request.read()],
  ['is cut off by its caller', (request) => request.drop()],
  ['is closed by its caller', (request) => request.close()],
];

for (const [how, end] of endings) {
  test(`R-501: a slot is free again when one of the requests ${how}, and only that one`, async () => {
    const caller = await gateway.newCaller({ key: { concurrency: 3 } });
    const [first, ...others] = await hold(caller, 3);
    assert.ok(first);
    assertTooMany(await ask(caller));
    await end(first);
    await untilFree(caller);
    const again = await UnreadRequest.send(gateway, caller.key);
    assertTooMany(await ask(caller));
    for (const request of [again, ...others]) request.drop();
  });
}

test('R-501: requests that fail give their slots back', async () => {
  const caller = await gateway.newCaller({ key: { concurrency: 1, rpm: 1000 } });
  const wrong = () => ask(caller, '/v1/models/no/such');
  assert.equal((await wrong()).status, 404);
  await until(async () => (await wrong()).status === 404);
  await untilFree(caller);
});

test('R-501: answers that wait behind another on their connection hold slots, and losing it frees them all', async () => {
  const caller = await gateway.newCaller({ key: { concurrency: 3, rpm: 1000 } });
  const held = await UnreadRequest.send(gateway, caller.key);
  held.askFor('/v1/models/long/1', caller.key);
  held.askFor('/v1/models/long/1', caller.key);
  await until(async () => (await ask(caller)).status === 429);
  assertTooMany(await ask(caller));
  held.drop();
  await untilFree(caller);
  for (const request of await hold(caller, 3)) request.drop();
});

test('R-501: a caller who leaves while the key is being looked up leaves no slot behind', async () => {
  const caller = await gateway.newCaller({ key: { concurrency: 1 } });
  const db = openDb(gateway.database.address, silentLog);
  logged.length = 0;
  try {
    await db.transaction(async (tx) => {
      await tx.run('lock table api_keys in access exclusive mode');
      const gone = UnreadRequest.begin(gateway, caller.key);
      await until(async () => (await db.rows(WAITING_SESSIONS, [gateway.database.address.database])).length === 1);
      gone.drop();
      await until(() => logged.some((line) => line.includes('"status":499')));
    });
  } finally {
    await db.close();
  }
  await untilFree(caller);
  assert.equal((await ask(caller)).status, 200);
});

test('R-501: another key of the same account has slots of its own', async () => {
  const caller = await gateway.newCaller({ key: { concurrency: 1 } });
  const other = await gateway.admin('POST', `/accounts/${caller.accountId}/keys`, { name: 'other', concurrency: 1 });
  const [held] = await hold(caller, 1);
  assertTooMany(await ask(caller));
  assert.equal((await ask({ key: other.json.key })).status, 200);
  held?.drop();
});

test('R-502: a key’s own concurrency takes the place of the default, above and below it', async () => {
  for (const concurrency of [1, 16]) {
    const caller = await gateway.newCaller({ key: { concurrency } });
    const held = await hold(caller, concurrency);
    assertTooMany(await ask(caller));
    for (const request of held) request.drop();
  }
});

test('R-502: lowering a key’s concurrency refuses until enough of its running requests have ended', async () => {
  const caller = await gateway.newCaller({ key: { concurrency: 3 } });
  const [first, second, third] = await hold(caller, 3);
  await gateway.admin('PATCH', `/keys/${caller.keyId}`, { concurrency: 1 });
  logged.length = 0;
  first?.drop();
  second?.drop();
  await until(() => logged.filter((line) => line.includes('"status":499')).length === 2);
  assertTooMany(await ask(caller));
  third?.drop();
  await untilFree(caller);
});

test('a request refused for want of a slot takes nothing from the bucket', async () => {
  const caller = await gateway.newCaller({ key: { rpm: 3, concurrency: 1 } });
  const [held] = await hold(caller, 1);
  for (let refused = 0; refused < 10; refused++) assertTooMany(await ask(caller));
  held?.drop();
  await untilFree(caller);
  assert.equal((await ask(caller)).status, 200);
  assertRateLimited(await ask(caller));
});

test('a request refused for its rate takes no slot', async () => {
  const caller = await gateway.newCaller({ key: { rpm: 1, concurrency: 1 } });
  await spend(caller, 1);
  for (let refused = 0; refused < 3; refused++) assertRateLimited(await ask(caller));
  gateway.clock.advance(60);
  assert.equal((await ask(caller)).status, 200);
});

test('R-508: an account has 50 live keys, and the 51st is refused', async () => {
  const { accountId, keyId } = await gateway.newCaller();
  const make = () => gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'one more' });
  for (let live = 2; live <= 50; live++) assert.equal((await make()).status, 200, `key ${live}`);
  assert.equal((await make()).json.error.code, 'key_limit_reached');
  await gateway.admin('DELETE', `/keys/${keyId}`);
  assert.equal((await make()).status, 200);
  assert.equal((await make()).json.error.code, 'key_limit_reached');
});

test('R-508: a request id of 128 characters is adopted, and one of 129 is not', async () => {
  const idFor = async (given: string) =>
    (await gateway.call('GET', '/healthz', { headers: { 'x-request-id': given } })).headers['x-request-id'];
  assert.equal(await idFor('i'.repeat(128)), 'i'.repeat(128));
  assert.match((await idFor('i'.repeat(129))) ?? '', /^req_/);
});

const WAITING_SESSIONS = `select pid from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`;

/** One small answer that takes one request of the bucket and, for a moment, one slot. */
function ask({ key }: Pick<NewCaller, 'key'>, path = '/v1/models/long/1', at = gateway): Promise<Answer> {
  return at.call('GET', path, { key });
}

/** Uses up that many requests of the bucket, all at the same moment of the clock. */
async function spend(caller: NewCaller, requests: number, at = gateway): Promise<void> {
  for (let sent = 0; sent < requests; sent++) {
    const answer = await ask(caller, '/v1/models/long/1', at);
    assert.equal(answer.status, 200, `request ${sent + 1}: ${answer.text}`);
  }
}

function hold(caller: NewCaller, requests: number): Promise<UnreadRequest[]> {
  return Promise.all(Array.from({ length: requests }, () => UnreadRequest.send(gateway, caller.key)));
}

/** The server learns of an end a moment after its caller. Takes one request of the bucket. */
async function untilFree(caller: NewCaller, at = gateway): Promise<void> {
  await until(async () => (await ask(caller, '/v1/models/long/1', at)).status === 200);
}

function assertRateLimited(answer: Answer): void {
  assert.equal(answer.status, 429, answer.text);
  assert.equal(answer.json.error.code, 'rate_limited');
  assert.equal(answer.json.error.type, 'rate_limit_error');
  assert.equal(answer.headers['retry-after'], '60');
}

function assertTooMany(answer: Answer): void {
  assert.equal(answer.status, 429, answer.text);
  assert.equal(answer.json.error.code, 'too_many_concurrent_requests');
  assert.equal(answer.json.error.type, 'rate_limit_error');
  assert.equal(answer.headers['retry-after'], '1');
}
