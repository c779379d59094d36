import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { request } from 'undici';
import { atConsole, byKey, ConsoleSite, RUNS } from './support/console-site.ts';
import type { Answer } from './support/gateway.ts';
import { framesIn, OpenStream } from './support/paid-calls.ts';
import { newMember, type SignedInPerson } from './support/people.ts';
import { until } from './support/postgres.ts';

const CHAT = { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hi' }] };
const FREE = ['estimate', 'file'];

const site = new ConsoleSite();
let owner: SignedInPerson;
before(async () => {
  await site.start();
  owner = await site.owner();
});
after(() => site.stop());
afterEach(() => site.gateway.assertBooksBalance());

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json.error?.code], [status, code], answer.text);
}

const balanceOf = async (person: SignedInPerson) => (await person.call('GET', '/credits')).json;
const usageByKey = async (person: SignedInPerson): Promise<Record<string, number>> => {
  const { data } = (await person.call('GET', '/usage?group_by=key')).json;
  return Object.fromEntries(data.map(({ group, credits }: { group: string; credits: number }) => [group, credits]));
};

for (const kind of Object.keys(RUNS)) {
  test(`a member runs ${kind} without any key, and it is counted to the account as the console’s`, async () => {
    const host = await site.owner();
    const member = await newMember(site.gateway, host, 'member');
    const answer = await site.made(atConsole(member), kind);
    const isJob = answer.status === 202;
    if (isJob) await site.ended(host, answer.json.id);
    const { spent } = await balanceOf(host);
    assert.equal(spent > 0, !FREE.includes(kind));
    assert.deepEqual(await usageByKey(host), spent > 0 ? { console: spent } : {});
    const { data } = (await host.call('GET', '/requests?key=console')).json;
    assert.deepEqual(
      data.map(({ key_id, person_id, credits }: Answer['json']) => [key_id, person_id, credits]),
      // A form asks for an estimate at every change, so that none leaves a row.
      kind === 'estimate' ? [] : [[null, member.id, spent]],
    );
    assert.deepEqual(
      (await site.gateway.admin('GET', `/usage?account=${host.accountId}&key=console`)).json.data.length,
      spent > 0 ? 1 : 0,
    );
    if (isJob) {
      const jobs = (await site.gateway.admin('GET', `/jobs?account=${host.accountId}&key=console`)).json.data;
      assert.deepEqual([jobs.length, jobs[0].id], [1, answer.json.id]);
    }
  });
}

test('the console shows the models that the account reaches, and one of them', async () => {
  const { key } = await site.keyOf(owner);
  const list = await owner.call('GET', '/run/models');
  assert.deepEqual(list.json, (await site.gateway.call('GET', '/v1/models', { key })).json);
  assert.equal((await owner.call('GET', '/run/models/sandbox/chat')).json.id, 'sandbox/chat');
  await site.gateway.admin('PATCH', `/accounts/${owner.accountId}`, { groups: ['elsewhere'] });
  assert.deepEqual((await owner.call('GET', '/run/models')).json.data, []);
  refused(await site.run(atConsole(owner), 'chat'), 404, 'model_not_found');
  await site.gateway.admin('PATCH', `/accounts/${owner.accountId}`, { groups: ['default'] });
});

test('a chat streams in the console frame by frame, and is settled behind its last one', async () => {
  const host = await site.owner();
  const body = { ...CHAT, stream: true, stream_options: { include_usage: true } };
  await using stream = await OpenStream.open(site.gateway, '/api/console/run/chat/completions', {
    body,
    headers: { ...host.headers, authorization: '' },
  });
  assert.equal(stream.headers['content-type'], 'text/event-stream; charset=utf-8');
  const { text, isCut } = await stream.rest();
  assert.ok(!isCut && text.endsWith('data: [DONE]\n\n'), text);
  const { usage } = framesIn(text).at(-1);
  await until(async () => (await balanceOf(host)).reserved === 0);
  assert.equal((await balanceOf(host)).spent, usage.credits);
});

test('a transcription run in the console says where the console finds it', async () => {
  const { headers } = await site.made(atConsole(owner), 'transcription');
  const { pathname } = new URL(headers.location ?? '');
  assert.equal(pathname, `/api/console/audio/transcriptions/${headers['x-request-id']}`);
  const found = await owner.call('GET', pathname.replace('/api/console', ''));
  assert.deepEqual([found.status, found.json.status], [200, 'completed']);
});

for (const [what, headers, status, code] of [
  ['without the session’s token', { 'x-csrf-token': '' }, 403, 'csrf_refused'],
  ['with another token', { 'x-csrf-token': 'x'.repeat(43) }, 403, 'csrf_refused'],
  ['from another origin', { origin: 'https://evil.example' }, 403, 'csrf_refused'],
  ['without a session', { cookie: '' }, 401, 'not_signed_in'],
] as const) {
  test(`R-525: nothing is run ${what}`, async () => {
    const before = await balanceOf(owner);
    for (const kind of Object.keys(RUNS)) refused(await site.run(atConsole(owner), kind, { headers }), status, code);
    assert.deepEqual(await balanceOf(owner), before);
  });
}

test('R-525: a viewer runs nothing', async () => {
  const viewer = await newMember(site.gateway, owner, 'viewer');
  const before = await balanceOf(owner);
  for (const kind of Object.keys(RUNS)) refused(await site.run(atConsole(viewer), kind), 403, 'insufficient_role');
  refused(await viewer.call('GET', '/run/models'), 403, 'insufficient_role');
  assert.deepEqual(await balanceOf(owner), before);
});

test('a suspended account runs nothing in the console, and still sees what it has', async () => {
  const host = await site.owner();
  await site.gateway.admin('PATCH', `/accounts/${host.accountId}`, { status: 'suspended' });
  for (const kind of Object.keys(RUNS)) refused(await site.run(atConsole(host), kind), 401, 'account_disabled');
  assert.equal((await balanceOf(host)).available, 1000);
});

test('an account without credits runs nothing that costs something', async () => {
  const poor = await site.owner(0);
  for (const kind of Object.keys(RUNS).filter((each) => !FREE.includes(each))) {
    refused(await site.run(atConsole(poor), kind), 402, 'insufficient_credits');
  }
});

test('all people of an account share one bucket of the console, which its keys do not take from', async () => {
  const host = await site.owner();
  const member = await newMember(site.gateway, host, 'member');
  const { key } = await site.keyOf(host);
  await site.gateway.admin('PATCH', `/accounts/${host.accountId}`, { limits: { rpm: 4 } });
  for (let count = 0; count < 5; count++) await site.made(byKey(key), 'estimate');
  for (const person of [host, member, host, member]) await site.made(atConsole(person), 'estimate');
  refused(await site.run(atConsole(host), 'estimate'), 429, 'rate_limited');
  refused(await site.run(atConsole(member), 'estimate'), 429, 'rate_limited');
  // Looking is not running.
  assert.equal((await host.call('GET', '/credits')).status, 200);
  assert.equal((await site.run(byKey(key), 'estimate')).status, 200);
  site.gateway.clock.advance(15);
  await site.made(atConsole(member), 'estimate');
});

test('a call that is under way in the console takes one of the account’s slots until it ends', async () => {
  const host = await site.owner();
  const member = await newMember(site.gateway, host, 'member');
  await site.gateway.admin('PATCH', `/accounts/${host.accountId}`, { limits: { concurrency: 1, rpm: 1000 } });
  const slow = JSON.stringify({ ...CHAT, sandbox: { delay_ms: 60_000 } });
  const headers = { ...host.headers, 'content-type': 'application/json' };
  const leaving = new AbortController();
  const { signal } = leaving;
  const url = `${site.gateway.url}/api/console/run/chat/completions`;
  const answer = request(url, { method: 'POST', headers, body: slow, signal });
  answer.catch(() => undefined);
  const ask = async () => (await site.run(atConsole(member), 'estimate')).json.error?.code;
  await until(async () => (await balanceOf(host)).reserved > 0);
  assert.equal(await ask(), 'too_many_concurrent_requests');
  await site.gateway.admin('PATCH', `/accounts/${host.accountId}`, { limits: { concurrency: 2 } });
  assert.equal(await ask(), undefined);
  await site.gateway.admin('PATCH', `/accounts/${host.accountId}`, { limits: { concurrency: 1 } });
  leaving.abort();
  await until(async () => (await ask()) === undefined);
});

test('an Idempotency-Key belongs to the person: it replays for them, and for nobody else', async () => {
  const host = await site.owner();
  const member = await newMember(site.gateway, host, 'member');
  const { key } = await site.keyOf(host);
  const headers = { 'idempotency-key': 'one picture' };
  const first = await site.made(atConsole(host), 'picture', { headers });
  const again = await site.made(atConsole(host), 'picture', { headers });
  assert.deepEqual([again.json.id, again.headers['idempotent-replayed']], [first.json.id, 'true']);
  const others = [
    await site.made(atConsole(member), 'picture', { headers }),
    await site.made(byKey(key), 'picture', { headers }),
  ];
  for (const other of others) assert.notEqual(other.json.id, first.json.id);
  for (const { json } of [first, ...others]) await site.ended(host, json.id);
  refused(
    await site.run(atConsole(host), 'picture', { headers, body: { model: 'sandbox/image', prompt: 'another' } }),
    409,
    'idempotency_conflict',
  );
});
