import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { KEY_OVERLAP_SECONDS_MAX, LIVE_KEYS_PER_ACCOUNT_MAX } from '../src/limits.ts';
import { byKey, ConsoleSite } from './support/console-site.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import type { SignedInPerson } from './support/people.ts';

const site = new ConsoleSite();
let owner: SignedInPerson;
before(async () => {
  await site.start();
  owner = await site.owner();
});
after(() => site.stop());
afterEach(() => site.gateway.assertBooksBalance());

const use = (key: string) => site.gateway.call('GET', '/v1/models', { key });
const roll = (id: string, overlap_seconds: unknown, person = owner) =>
  person.call('POST', `/keys/${id}/roll`, { overlap_seconds });
const nowSeconds = () => Math.floor(site.gateway.clock.nowMs() / 1000);
/** Costs two credits. */
const speak = (key: string) => site.run(byKey(key), 'speech');

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json.error?.code], [status, code], answer.text);
}

async function rolled(id: string, overlapSeconds: number): Promise<Answer['json']> {
  const answer = await roll(id, overlapSeconds);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

test('R-095, R-096: a rolled key has the settings of the old one, which works until the overlap is over', async () => {
  const settings = { groups: ['default'], rpm: 10, concurrency: 3, credit_limit: 5, credit_limit_reset: 'week' };
  const expires_at = nowSeconds() + 86_400;
  const old = await site.keyOf(owner, { name: 'laptop', ...settings, expires_at });
  const answer = await roll(old.id, 60);
  assert.equal(answer.headers['cache-control'], 'no-store');
  const { id, key, replaces, lineage, name, ...rest } = answer.json;
  for (const [field, value] of Object.entries({ ...settings, expires_at })) assert.deepEqual(rest[field], value, field);
  assert.deepEqual([name, lineage, replaces], ['laptop', old.id, { id: old.id, expires_at: nowSeconds() + 60 }]);
  assert.notEqual(id, old.id);
  for (const secret of [old.key, key]) assert.equal((await use(secret)).status, 200);
  site.gateway.clock.advance(59);
  assert.equal((await use(old.key)).status, 200);
  site.gateway.clock.advance(1);
  refused(await use(old.key), 401, 'key_expired');
  assert.equal((await use(key)).status, 200);
});

test('R-096: an overlap of nothing ends the old key at once, and one beyond its own end does not prolong it', async () => {
  const { id, key } = await site.keyOf(owner);
  const next = await rolled(id, 0);
  refused(await use(key), 401, 'key_expired');
  assert.equal((await use(next.key)).status, 200);
  const short = await site.keyOf(owner, { expires_at: nowSeconds() + 30 });
  assert.deepEqual((await rolled(short.id, 60)).replaces, { id: short.id, expires_at: nowSeconds() + 30 });
});

test('R-096: once a roll is answered, every process knows when the old key ends', async (t) => {
  const { database, clock } = site.gateway;
  const second = await Gateway.start({ database, clock });
  t.after(() => second.stop());
  const useThere = (secret: string) => second.call('GET', '/v1/models', { key: secret });
  const { id, key } = await site.keyOf(owner);
  assert.equal((await useThere(key)).status, 200);
  const next = await rolled(id, 0);
  refused(await useThere(key), 401, 'key_expired');
  assert.equal((await useThere(next.key)).status, 200);
});

test('an operator rolls a key of any account', async () => {
  const { id, key } = await site.keyOf(owner);
  const answer = await site.gateway.admin('POST', `/keys/${id}/roll`, { overlap_seconds: 0 });
  assert.equal(answer.json.account_id, owner.accountId, answer.text);
  refused(await use(key), 401, 'key_expired');
  assert.equal((await use(answer.json.key)).status, 200);
  refused(await site.gateway.admin('POST', '/keys/key_none/roll', { overlap_seconds: 0 }), 404, 'key_not_found');
});

test('R-096: the overlap is at most seven days, and a refused one changes nothing', async () => {
  const { id, key } = await site.keyOf(owner);
  const before = (await owner.call('GET', '/keys?limit=100')).json.data;
  for (const overlap of [KEY_OVERLAP_SECONDS_MAX + 1, -1, 0.5, '60', undefined]) {
    refused(await roll(id, overlap), 400, 'invalid_parameter');
  }
  assert.deepEqual((await owner.call('GET', '/keys?limit=100')).json.data, before);
  const { replaces } = await rolled(id, KEY_OVERLAP_SECONDS_MAX);
  assert.equal(replaces.expires_at, nowSeconds() + KEY_OVERLAP_SECONDS_MAX);
  assert.equal((await use(key)).status, 200);
});

test('R-091: both keys count among the live ones, so an account without room rolls none', async () => {
  const person = await site.owner();
  const { id, key } = await site.keyOf(person);
  for (let count = 2; count < LIVE_KEYS_PER_ACCOUNT_MAX; count++) await site.keyOf(person);
  const answers = await Promise.all(Array.from({ length: 5 }, () => roll(id, 0, person)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const answer of answers) if (answer.status !== 200) assert.match(answer.text, /key_limit_reached|key_over/);
  const full = (await person.call('GET', '/keys?limit=100')).json.data;
  assert.equal(full.length, LIVE_KEYS_PER_ACCOUNT_MAX);
  refused(await use(key), 401, 'key_expired');
  refused(await roll(full[0].id, 0, person), 400, 'key_limit_reached');
});

test('an expired key is not rolled, a disabled one gives a disabled one, a deleted one is not there', async () => {
  const short = await site.keyOf(owner, { expires_at: nowSeconds() + 1 });
  site.gateway.clock.advance(1);
  refused(await roll(short.id, 0), 409, 'key_over');
  const off = await site.keyOf(owner);
  await owner.call('PATCH', `/keys/${off.id}`, { disabled: true });
  const next = await rolled(off.id, 60);
  assert.equal(next.disabled, true);
  refused(await use(next.key), 401, 'key_disabled');
  await owner.call('DELETE', `/keys/${off.id}`);
  refused(await roll(off.id, 0), 404, 'key_not_found');
});

test('a roll is one audit row without the secret', async () => {
  const { id } = await site.keyOf(owner);
  const next = await rolled(id, 60);
  const { data } = (await site.gateway.admin('GET', '/audit?limit=1')).json;
  assert.deepEqual([data[0].action, data[0].actor, data[0].target], ['key.roll', owner.email, id]);
  assert.deepEqual([data[0].detail.new_key, data[0].detail.expires_at], [next.id, nowSeconds() + 60]);
  assert.ok(!JSON.stringify(data).includes(next.key.slice(11, 30)));
});

test('R-097: rolled keys spend together what one of them may, and a limit for ever is not renewed', async () => {
  const first = await site.keyOf(owner, { credit_limit: 6 });
  assert.equal((await speak(first.key)).status, 200);
  const second = await rolled(first.id, 600);
  assert.equal((await speak(second.key)).status, 200);
  assert.equal((await speak(first.key)).status, 200);
  for (const { key } of [first, second]) refused(await speak(key), 402, 'insufficient_credits');
  const third = await rolled(second.id, 0);
  refused(await speak(third.key), 402, 'insufficient_credits');
  await owner.call('DELETE', `/keys/${first.id}`);
  refused(await speak(third.key), 402, 'insufficient_credits');
  const { data } = (await owner.call('GET', '/keys?limit=100')).json;
  const record = data.find(({ id }: { id: string }) => id === third.id);
  assert.deepEqual([record.credits_used, record.credit_limit_used, record.lineage], [0, 6, first.id]);
  await owner.call('PATCH', `/keys/${third.id}`, { credit_limit: 8 });
  assert.equal((await speak(third.key)).status, 200);
  refused(await speak(third.key), 402, 'insufficient_credits');
});

test('R-097: of many calls at once with both keys only as many pass as one limit covers', async () => {
  const first = await site.keyOf(owner, { credit_limit: 6 });
  const second = await rolled(first.id, 600);
  const answers = await Promise.all(Array.from({ length: 12 }, (_, place) => speak([first, second][place % 2].key)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 3);
  for (const answer of answers) if (answer.status !== 200) refused(answer, 402, 'insufficient_credits');
});

test('R-097: a limit by the day begins anew for both on the next day', async () => {
  const first = await site.keyOf(owner, { credit_limit: 2, credit_limit_reset: 'day' });
  const second = await rolled(first.id, 3 * 86_400);
  assert.equal((await speak(first.key)).status, 200);
  refused(await speak(second.key), 402, 'insufficient_credits');
  site.gateway.clock.advance(86_400);
  assert.equal((await speak(second.key)).status, 200);
  refused(await speak(first.key), 402, 'insufficient_credits');
});

test('rolled keys share one allowance of requests, and a repeat with the new key is known as one', async () => {
  const first = await site.keyOf(owner, { rpm: 4 });
  const headers = { 'idempotency-key': 'one picture' };
  const job = (await site.made(byKey(first.key), 'picture', { headers })).json.id;
  const second = await rolled(first.id, 600);
  const repeat = await site.made(byKey(second.key), 'picture', { headers });
  assert.equal(repeat.json.id, job);
  assert.equal((await use(first.key)).status, 200);
  assert.equal((await use(second.key)).status, 200);
  for (const { key } of [first, second]) refused(await use(key), 429, 'rate_limited');
});
