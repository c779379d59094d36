import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { clipForm } from './support/booth.ts';
import { type Answer, type CallOptions, Gateway } from './support/gateway.ts';
import { until } from './support/postgres.ts';
import { SENTENCE } from './support/sandbox-voice.ts';
import { type AppGrant, Apps, type GrantOptions } from './support/tokens.ts';

// What an app may spend is bounded where a key's spending is.

const DAY_SECONDS = 86_400;

let gateway: Gateway;
let apps: Apps;
/** Somebody says a sentence. */
let voice: Buffer;
before(async () => {
  gateway = await Gateway.start({
    settings: { TOLLGATE_TOKEN_RPM: '100000', TOLLGATE_TOKEN_CONCURRENCY: '1000' },
  });
  apps = await Apps.open(gateway);
  const speech = { model: 'sandbox/speech', input: SENTENCE, response_format: 'wav', output: 'b64_json' };
  const said = await post(await apps.newToken(await newAccount()), '/v1/audio/speech', { body: speech });
  voice = Buffer.from(said.json.b64_json, 'base64');
});
after(async () => {
  await apps.close();
  await gateway.stop();
});
afterEach(() => gateway.assertBooksBalance());

async function newAccount(credits = 1000): Promise<string> {
  const { json } = await gateway.admin('POST', '/accounts', { name: 'Test' });
  await gateway.admin('POST', `/accounts/${json.id}/grants`, { credits });
  return json.id;
}

async function newGrant(options: GrantOptions): Promise<{ grant: AppGrant; token: string }> {
  const grant = await apps.grant(await newAccount(), options);
  return { grant, token: await apps.token(grant) };
}

const MESSAGES = [{ role: 'user', content: 'Hello' }];

/** Each costs more than half a credit, at each route that holds credits. */
const DEAR: Readonly<Record<string, CallOptions | (() => CallOptions)>> = {
  '/v1/chat/completions': { body: { model: 'sandbox/chat', messages: MESSAGES, max_tokens: 4000 } },
  '/v1/audio/speech': { body: { model: 'sandbox/speech', input: 'word '.repeat(10) } },
  '/v1/images/generations': { body: { model: 'sandbox/image', prompt: 'x', n: 10 } },
  '/v1/videos': { body: { model: 'sandbox/video', prompt: 'x', seconds: 10 } },
  '/v1/audio/music': { body: { model: 'sandbox/music', prompt: 'x', duration_seconds: 60 } },
  '/v1/audio/transcriptions': () => clipForm(voice, { model: 'sandbox/transcribe' }),
};

const IMAGE = { body: { model: 'sandbox/image', prompt: 'a gate' } };
const IMAGE_PRICE = 10;

function post(token: string, path: string, options: CallOptions): Promise<Answer> {
  return gateway.call('POST', path, { ...options, key: token });
}

function create(token: string): Promise<Answer> {
  return post(token, '/v1/images/generations', IMAGE);
}

async function admitted(token: string): Promise<void> {
  const answer = await create(token);
  assert.equal(answer.status, 202, answer.text);
}

/** As a key over its limit is refused, in the words of an app. */
function overLimit(answer: Answer, left: number): void {
  const { status, json, headers, text } = answer;
  assert.deepEqual(
    [status, json?.error?.code, headers['x-should-retry']],
    [402, 'insufficient_credits', 'false'],
    text,
  );
  assert.match(
    json.error.message,
    /^The credit limit of this app does not cover this request: [\d.]+ credits are needed/,
  );
  assert.ok(json.error.message.includes(` and ${left} are left of the limit.`), json.error.message);
}

interface Spending {
  readonly held: bigint;
  readonly spent: bigint;
}

async function spendingOf({ grantId }: AppGrant): Promise<Spending> {
  const [row] = await apps.db.rows<Spending>('select held, spent from key_spending where key_id = $1', [grantId]);
  return row ?? assert.fail('the grant has no spending');
}

for (const [path, asked] of Object.entries(DEAR)) {
  test(`an app's limit refuses ${path} as a key's does, and holds nothing`, async () => {
    const options = typeof asked === 'function' ? asked() : asked;
    const { grant, token } = await newGrant({ limit: 0.0001 });
    overLimit(await post(token, path, options), 0.0001);
    assert.deepEqual(await spendingOf(grant), { held: 0n, spent: 0n });
    const unlimited = await apps.newToken(grant.accountId);
    const answer = await post(unlimited, path, options);
    assert.ok(answer.status < 300, answer.text);
  });
}

test('an app may spend its limit to the last credit and not a millionth more', async () => {
  const exact = await newGrant({ limit: 2 * IMAGE_PRICE });
  await admitted(exact.token);
  await admitted(exact.token);
  overLimit(await create(exact.token), 0);
  const short = await newGrant({ limit: IMAGE_PRICE - 0.000001 });
  overLimit(await create(short.token), 9.999999);
});

test('a limit is the grant’s: a refreshed token brings no new one, another app has its own, and keys have none', async () => {
  const { grant, token } = await newGrant({ limit: IMAGE_PRICE });
  await admitted(token);
  overLimit(await create(await apps.token(grant)), 0);
  await admitted(await apps.newToken(grant.accountId, { limit: IMAGE_PRICE }));
  const { key } = (await gateway.admin('POST', `/accounts/${grant.accountId}/keys`, { name: 'key' })).json;
  await admitted(key);
});

test('of many at once an app is admitted exactly as often as its limit allows', async () => {
  const { grant, token } = await newGrant({ limit: 3 * IMAGE_PRICE });
  const answers = await Promise.all(Array.from({ length: 30 }, () => create(token)));
  const refusals = answers.filter(({ status }) => status !== 202);
  assert.equal(refusals.length, 27);
  for (const answer of refusals) overLimit(answer, 0);
  assert.deepEqual(await spendingOf(grant), { held: 30_000_000n, spent: 0n });
});

for (const [reset, days] of [
  ['day', () => 1],
  ['week', () => 7],
  ['month', (start: Date) => new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate()],
] as const) {
  test(`a limit per ${reset} begins anew with the next ${reset} in UTC, and not before`, async () => {
    // All three periods begin at once.
    const start = nextMonthOnMonday(gateway.clock.now());
    gateway.clock.advance((start.getTime() - gateway.clock.nowMs()) / 1000);
    const { grant } = await newGrant({ limit: 0.6, reset });
    const speech = { body: { model: 'sandbox/speech', input: 'x'.repeat(20) } };
    const say = async () => (await post(await apps.token(grant), '/v1/audio/speech', speech)).status;
    const statuses = async () => [await say(), await say(), await say()];
    assert.deepEqual(await statuses(), [200, 200, 402]);
    gateway.clock.advance(days(start) * DAY_SECONDS - 1);
    assert.equal(await say(), 402);
    gateway.clock.advance(1);
    assert.deepEqual(await statuses(), [200, 200, 402]);
  });
}

function nextMonthOnMonday(from: Date): Date {
  for (let month = from.getUTCMonth() + 1; ; month++) {
    const first = new Date(Date.UTC(from.getUTCFullYear(), month));
    if (first.getUTCDay() === 1) return first;
  }
}

test('what an app without a limit spends by many quick calls is counted to its grant, and a limit set then counts it', async () => {
  const { grant, token } = await newGrant({});
  const chat = { body: { model: 'sandbox/chat', messages: MESSAGES, max_tokens: 20 } };
  let calls = 0;
  const say = async () => {
    calls++;
    const answer = await post(token, '/v1/chat/completions', chat);
    assert.equal(answer.status, 200, answer.text);
  };
  await say();
  const { spent: price } = (await gateway.call('GET', '/v1/credits', { key: token })).json;
  const purses = 'select from purses where account_id = $1';
  // Until the account's calls are served from a purse, and then some out of it.
  await until(async () => {
    await say();
    return (await apps.db.rows(purses, [grant.accountId])).length > 0;
  });
  for (let more = 0; more < 5; more++) await say();
  const micro = BigInt(Math.round(price * 1e6) * calls);
  assert.ok(micro > 0n);
  // Some of it may be in the journal only; from here on the account is asked for each call, and it must count that too.
  await apps.change(grant, (tx) =>
    tx.run('update oauth_grants set credit_limit = $2 where id = $1', [grant.grantId, micro]),
  );
  overLimit(await post(token, '/v1/chat/completions', chat), 0);
  assert.deepEqual(await spendingOf(grant), { held: 0n, spent: micro });
  await apps.change(grant, (tx) =>
    tx.run('update oauth_grants set credit_limit = null where id = $1', [grant.grantId]),
  );
  await say();
});

test('what a job of an app held and did not need is given back to its limit', async () => {
  const { grant, token } = await newGrant({ limit: IMAGE_PRICE });
  const failing = { model: 'sandbox/image', prompt: 'x', extra: { sandbox: { fail: 'policy' } } };
  const job = await post(token, '/v1/images/generations', { body: failing });
  assert.equal(job.status, 202, job.text);
  await until(async () => {
    gateway.clock.advance(1);
    return (await gateway.call('GET', `/v1/jobs/${job.json.id}`, { key: token })).json.status === 'failed';
  });
  assert.deepEqual(await spendingOf(grant), { held: 0n, spent: 0n });
  await admitted(token);
});

test('R-116: a transcription made with one scope is read with another, and is paid by the grant that made it', async () => {
  const { grant } = await newGrant({ limit: 1000 });
  const audio = await apps.token(grant, { scopes: ['user:inference:audio'] });
  const made = await post(audio, '/v1/audio/transcriptions', clipForm(voice, { model: 'sandbox/transcribe' }));
  assert.equal(made.status, 200, made.text);
  const path = new URL(made.headers.location ?? assert.fail('there is no location')).pathname;
  const unread = await gateway.call('GET', path, { key: audio });
  assert.equal(unread.json.error.code, 'insufficient_scope');
  const read = await gateway.call('GET', path, { key: await apps.token(grant, { scopes: ['user:jobs'] }) });
  assert.deepEqual([read.status, read.json.status], [200, 'completed'], read.text);
  const { held, spent } = await spendingOf(grant);
  assert.ok(held === 0n && spent > 0n);
});
