import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { Spender } from './support/spend.ts';

let gateway: Gateway;
let spender: Spender;
let caller: NewCaller;
before(async () => {
  gateway = await Gateway.start();
  spender = new Spender(gateway.database, gateway.clock);
});
after(async () => {
  await spender.close();
  await gateway.stop();
});
afterEach(() => gateway.assertBooksBalance());

const DAY = 86_400;

function at(secondsFromNow: number): number {
  return Math.floor(gateway.clock.nowMs() / 1000) + secondsFromNow;
}

async function done(method: string, path: string, body?: unknown): Promise<Answer['json']> {
  const answer = await gateway.admin(method, path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

function refused(answer: Answer, status: number, code: string, param: string | null = null): void {
  const { error } = answer.json;
  assert.deepEqual([answer.status, error?.code, error?.param], [status, code, param], answer.text);
}

async function newCaller(): Promise<NewCaller> {
  caller = await gateway.newCaller();
  return caller;
}

const grant = (body: object) => gateway.admin('POST', `/accounts/${caller.accountId}/grants`, body);
const give = (body: object) => done('POST', `/accounts/${caller.accountId}/grants`, body);
const grants = async () => (await gateway.call('GET', '/v1/credits/grants?limit=100', { key: caller.key })).json.data;
const ledger = async () => (await done('GET', `/accounts/${caller.accountId}/ledger?limit=100`)).data;
const available = async () => (await gateway.call('GET', '/v1/credits', { key: caller.key })).json.available;
const lastChange = async () => (await done('GET', '/audit?limit=1')).data[0];

test('credits below zero take unspent credits back, in the order of spending, with an entry and an audit row', async () => {
  await newCaller();
  const lasting = await give({ credits: 10 });
  const expiring = await give({ credits: 4, expires_at: at(DAY) });
  const taken = await give({ credits: -6, reason: 'granted twice by mistake', reference: 'correction-1' });
  assert.deepEqual(taken, {
    ...taken,
    object: 'grant',
    amount: -6,
    remaining: 0,
    source: 'operator',
    expires_at: null,
  });
  assert.equal(taken.reference, 'correction-1');
  const remaining = new Map((await grants()).map((one: { id: string; remaining: number }) => [one.id, one.remaining]));
  assert.deepEqual([remaining.get(lasting.id), remaining.get(expiring.id), remaining.get(taken.id)], [8, 0, 0]);
  const [entry] = await ledger();
  assert.deepEqual([entry.type, entry.amount, entry.charged, entry.balance], ['revoke', -6, 0, 8]);
  const { action, target, detail } = await lastChange();
  assert.deepEqual([action, target], ['credits.revoke', caller.accountId]);
  assert.deepEqual(detail, {
    grant: taken.id,
    credits: -6,
    source: 'operator',
    reference: 'correction-1',
    reason: 'granted twice by mistake',
  });
});

test('credits are not taken back without a reason, nor with an expiry, nor none of them', async () => {
  await newCaller();
  await give({ credits: 10 });
  refused(await grant({ credits: -1 }), 400, 'invalid_parameter', 'reason');
  refused(await grant({ credits: -1, reason: '' }), 400, 'invalid_parameter', 'reason');
  refused(await grant({ credits: -1, reason: 'x', expires_at: at(DAY) }), 400, 'invalid_parameter', 'expires_at');
  refused(await grant({ credits: 0, reason: 'x' }), 400, 'invalid_parameter', 'credits');
  refused(await grant({ credits: -0.0000001, reason: 'x' }), 400, 'invalid_parameter', 'credits');
  assert.equal(await available(), 10);
});

test('no more is taken back than is available: all of it, and not a micro-credit above', async () => {
  await newCaller();
  await give({ credits: 10 });
  await spender.spend({ accountId: caller.accountId, keyId: caller.keyId, reserve: 3 });
  await spender.spend({ accountId: caller.accountId, keyId: caller.keyId, reserve: 2, settle: 2 });
  const before = [await ledger(), await grants(), (await lastChange()).id];
  const answer = await grant({ credits: -5.000001, reason: 'too much', reference: 'too-much' });
  refused(answer, 409, 'credits_not_available');
  assert.match(answer.json.error.message, /^5\.000001 credits cannot be taken back: the account has 5 available/);
  assert.equal(answer.headers['x-should-retry'], 'false');
  assert.deepEqual([await ledger(), await grants(), (await lastChange()).id], before);
  // The refusal has not used the reference up.
  await give({ credits: -5, reason: 'all that is left', reference: 'too-much' });
  assert.equal(await available(), 0);
  refused(await grant({ credits: -0.000001, reason: 'more' }), 409, 'credits_not_available');
});

test('what has expired cannot be taken back, and an account in debt has nothing', async () => {
  await newCaller();
  await give({ credits: 5, expires_at: at(60) });
  gateway.clock.advance(61);
  refused(await grant({ credits: -1, reason: 'late' }), 409, 'credits_not_available');
  await give({ credits: 3 });
  await spender.spend({ accountId: caller.accountId, keyId: caller.keyId, reserve: 3, settle: 8 });
  assert.equal(await available(), -5);
  const answer = await grant({ credits: -1, reason: 'debt' });
  refused(answer, 409, 'credits_not_available');
  assert.match(answer.json.error.message, /has -5 available/);
});

test('a reference takes back once, whether it was a grant or a taking back before', async () => {
  await newCaller();
  await give({ credits: 10, reference: 'order-7' });
  refused(await grant({ credits: -1, reason: 'x', reference: 'order-7' }), 409, 'duplicate_reference');
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => grant({ credits: -2, reason: 'x', reference: 'back-7' })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, ...Array<number>(9).fill(409)],
  );
  refused(await grant({ credits: 1, reference: 'back-7' }), 409, 'duplicate_reference');
  // Even when there is nothing left, a repeat is told that it is one.
  await give({ credits: -8, reason: 'the rest' });
  refused(await grant({ credits: -2, reason: 'x', reference: 'back-7' }), 409, 'duplicate_reference');
  assert.equal(await available(), 0);
});

test('of takings back at once no more succeed than there are credits for', async () => {
  await newCaller();
  await give({ credits: 10 });
  const answers = await Promise.all(Array.from({ length: 8 }, () => grant({ credits: -3, reason: 'race' })));
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [200, 200, 200, 409, 409, 409, 409, 409],
  );
  assert.equal(await available(), 1);
});

test('credits are taken back from a busy account while it calls, and nothing is lost or spent twice', async () => {
  caller = await gateway.newCaller({ key: { rpm: 100_000, concurrency: 100 } });
  await give({ credits: 1000 });
  const body = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'hello' }], max_tokens: 5 };
  let spent = 0;
  let taken = 0;
  const chat = async () => {
    const { status, json, text } = await gateway.call('POST', '/v1/chat/completions', { key: caller.key, body });
    assert.equal(status, 200, text);
    spent += Math.round(json.usage.credits * 1e6);
  };
  for (let round = 0; round < 8; round++) {
    const takes = grant({ credits: -10, reason: 'busy' }).then(({ status, text }) => {
      assert.equal(status, 200, text);
      taken += 10e6;
    });
    await Promise.all([takes, ...Array.from({ length: 6 }, chat)]);
  }
  assert.equal(Math.round((await available()) * 1e6), 1000e6 - spent - taken);
});

test('a grant’s expiry, source and reference can be corrected; what was before is in the audit', async () => {
  await newCaller();
  const made = await give({ credits: 5, source: 'sales', reference: 'old-ref' });
  const changed = await done('PATCH', `/grants/${made.id}`, {
    expires_at: at(DAY),
    source: 'promotion',
    reference: 'new-ref',
    reason: 'was entered wrongly',
  });
  assert.deepEqual(changed, { ...made, expires_at: at(DAY), source: 'promotion', reference: 'new-ref' });
  const { action, target, detail } = await lastChange();
  assert.deepEqual([action, target], ['credits.correct', made.id]);
  assert.deepEqual(detail, {
    account: caller.accountId,
    before: { source: 'sales', reference: 'old-ref', expires_at: null },
    after: { source: 'promotion', reference: 'new-ref', expires_at: at(DAY) },
    reason: 'was entered wrongly',
  });
  assert.deepEqual(await done('PATCH', `/grants/${made.id}`, { expires_at: null }), { ...changed, expires_at: null });
  gateway.clock.advance(2 * DAY);
  assert.equal(await available(), 5);
  // The old reference is free again, the new one is taken.
  await give({ credits: 1, reference: 'old-ref' });
  refused(await grant({ credits: 1, reference: 'new-ref' }), 409, 'duplicate_reference');
});

test('a nearer expiry lapses what is left in its time, and changes what is spent first', async () => {
  await newCaller();
  const first = await give({ credits: 5 });
  const second = await give({ credits: 5 });
  await done('PATCH', `/grants/${second.id}`, { expires_at: at(60) });
  await spender.spend({ accountId: caller.accountId, keyId: caller.keyId, reserve: 2, settle: 2 });
  const remaining = async () =>
    Object.fromEntries((await grants()).map((one: { id: string; remaining: number }) => [one.id, one.remaining]));
  assert.deepEqual(await remaining(), { [first.id]: 5, [second.id]: 3 });
  gateway.clock.advance(60);
  assert.equal(await available(), 5);
  assert.deepEqual(await remaining(), { [first.id]: 5, [second.id]: 0 });
});

test('a correction is refused for what does not exist, has expired, was a taking back, or says nothing', async () => {
  await newCaller();
  const made = await give({ credits: 5, expires_at: at(60), reference: 'to-expire' });
  await give({ credits: 5, reference: 'taken' });
  const taking = await give({ credits: -1, reason: 'x' });
  const patch = (id: string, body: object) => gateway.admin('PATCH', `/grants/${id}`, body);
  refused(await patch('grant_none', { source: 'x' }), 404, 'grant_not_found');
  refused(await patch(made.id, {}), 400, 'invalid_parameter');
  refused(await patch(made.id, { reason: 'only a reason' }), 400, 'invalid_parameter');
  refused(await patch(made.id, { expires_at: at(0) }), 400, 'invalid_parameter', 'expires_at');
  refused(await patch(made.id, { credits: 5 }), 400, 'invalid_parameter', 'credits');
  refused(await patch(made.id, { reference: 'taken' }), 409, 'duplicate_reference');
  refused(await patch(taking.id, { expires_at: at(60) }), 409, 'grant_over');
  assert.equal((await done('PATCH', `/grants/${taking.id}`, { source: 'audit' })).source, 'audit');
  gateway.clock.advance(60);
  refused(await patch(made.id, { expires_at: at(60) }), 409, 'grant_over');
  refused(await patch(made.id, { expires_at: null }), 409, 'grant_over');
  assert.equal((await done('PATCH', `/grants/${made.id}`, { source: 'late' })).source, 'late');
});

test('a correction that is made twice changes nothing the second time', async () => {
  await newCaller();
  const made = await give({ credits: 5, reference: 'twice' });
  const once = await done('PATCH', `/grants/${made.id}`, { reference: 'twice', expires_at: at(DAY) });
  assert.deepEqual(await done('PATCH', `/grants/${made.id}`, { reference: 'twice', expires_at: at(DAY) }), once);
  assert.equal(await available(), 5);
});
