import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { request } from 'undici';
import { byKey, ConsoleSite } from './support/console-site.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import { rowsOf, storedFiles } from './support/keeping.ts';
import { newMember, type SignedInPerson } from './support/people.ts';

const site = new ConsoleSite();
let owner: SignedInPerson;
let stranger: SignedInPerson;
let viewer: SignedInPerson;
let key: { id: string; key: string };
before(async () => {
  await site.start();
  owner = await site.owner();
  stranger = await site.owner();
  viewer = await newMember(site.gateway, owner, 'viewer');
  key = await site.keyOf(owner);
});
after(() => site.stop());
afterEach(() => site.gateway.assertBooksBalance());

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json.error?.code], [status, code], answer.text);
}

/** Lets everything that is done now and then be done once. */
async function sweep(): Promise<void> {
  const { database, clock } = site.gateway;
  await (await Gateway.start({ database, clock })).stop();
}

/** What the key reads is what a viewer sees. */
async function sameAs(path: string): Promise<Answer['json']> {
  const inConsole = await viewer.call('GET', path);
  const byApi = await site.gateway.call('GET', `/v1${path}`, { key: key.key });
  assert.equal(inConsole.status, 200, inConsole.text);
  assert.deepEqual(inConsole.json, byApi.json);
  return inConsole.json;
}

test('R-523: balance, grants and ledger entries are those of the account, for a viewer too', async () => {
  await site.made(byKey(key.key), 'chat');
  const balance = await sameAs('/credits');
  assert.ok(balance.spent > 0 && balance.available < 1000);
  const grants = await sameAs('/credits/grants');
  assert.deepEqual(
    grants.data.map(({ amount }: { amount: number }) => amount),
    [1000],
  );
  const entries = await sameAs('/credits/transactions');
  assert.equal(entries.data[0].key_id, key.id);
  const theirs = await stranger.call('GET', '/credits/transactions');
  assert.deepEqual(
    theirs.json.data.map(({ type }: { type: string }) => type),
    ['grant'],
  );
});

for (const grouping of ['day', 'model', 'key'] as const) {
  test(`R-523: usage by ${grouping}, as JSON and as CSV`, async () => {
    await site.made(byKey(key.key), 'chat');
    const usage = (await viewer.call('GET', `/usage?group_by=${grouping}`)).json;
    assert.equal(usage.group_by, grouping);
    const byApi = await site.gateway.call('GET', `/v1/usage?group_by=${grouping}`, { key: key.key });
    assert.deepEqual(
      usage.data.map(({ group, requests, credits }: Answer['json']) => ({ group, requests, credits })),
      byApi.json.data,
    );
    const [row] = usage.data;
    const groups = { day: site.gateway.clock.now().toISOString().slice(0, 10), model: 'sandbox/chat', key: key.id };
    assert.equal(row.group, groups[grouping]);
    const csv = await viewer.call('GET', `/usage?group_by=${grouping}&format=csv`);
    assert.match(csv.headers['content-type'] ?? '', /^text\/csv/);
    assert.equal(csv.text, `${grouping},requests,credits,errors\r\n${row.group},${row.requests},${row.credits},0\r\n`);
    assert.deepEqual((await stranger.call('GET', `/usage?group_by=${grouping}`)).json.data, []);
  });
}

test('R-523: an account’s usage is not told by upstream', async () => {
  const answer = await viewer.call('GET', '/usage?group_by=upstream');
  assert.deepEqual([answer.status, answer.json.error.param], [400, 'group_by'], answer.text);
  const { json } = await viewer.call('GET', '/usage?group_by=model');
  assert.ok(
    json.data.every((row: object) => !('cost' in row) && !('margin' in row)),
    JSON.stringify(json),
  );
});

test('requests are listed newest first, filtered and page by page, and shown one by one', async () => {
  const ids: string[] = [];
  for (const model of ['sandbox/chat', 'sandbox/chat', 'sandbox/chat']) {
    const answer = await site.made(byKey(key.key), 'chat', {
      body: { model, messages: [{ role: 'user', content: 'x' }] },
    });
    ids.unshift(answer.headers['x-request-id'] ?? '');
  }
  const first = (await viewer.call('GET', '/requests?limit=2')).json;
  assert.deepEqual(
    first.data.map((row: { request_id: string }) => row.request_id),
    ids.slice(0, 2),
  );
  const rest = (await viewer.call('GET', `/requests?limit=1&after=${first.data[1].id}`)).json;
  assert.equal(rest.data[0].request_id, ids[2]);
  const found = (await viewer.call('GET', `/requests?request_id=${ids[1]}&key=${key.id}&state=settled`)).json.data;
  assert.deepEqual([found.length, found[0].request_id, found[0].account_id], [1, ids[1], owner.accountId]);
  assert.deepEqual((await viewer.call('GET', '/requests?key=console')).json.data, []);
  const { receipt, ...row } = (await viewer.call('GET', `/requests/${found[0].id}`)).json;
  assert.deepEqual(row, found[0]);
  assert.equal(receipt.charged, found[0].credits);

  assert.deepEqual((await stranger.call('GET', '/requests')).json.data, []);
  refused(await stranger.call('GET', `/requests/${found[0].id}`), 404, 'request_not_found');
  // An id is a place in time, whether or not it is one of this account's.
  assert.deepEqual((await stranger.call('GET', `/requests?after=${first.data[0].id}`)).json.data, []);
  refused(await viewer.call('GET', '/requests?after=none'), 400, 'invalid_parameter');
});

test('R-523: jobs are listed and shown with links to what they made', async () => {
  const { id } = (await site.made(byKey(key.key), 'picture')).json;
  refused(await viewer.call('GET', `/jobs/${id}/assets`), 409, 'job_asset_not_ready');
  assert.equal((await site.ended(owner, id)).status, 'succeeded');
  assert.equal((await sameAs('/jobs?status=succeeded&kind=image')).data[0].id, id);
  await sameAs(`/jobs/${id}`);
  const [asset] = (await viewer.call('GET', `/jobs/${id}/assets`)).json.items;
  assert.equal(asset.job_id, id);
  const { pathname, search } = new URL(asset.url);
  const got = await request(site.gateway.url + pathname + search);
  assert.deepEqual([got.statusCode, got.headers['content-type']], [200, asset.mime_type]);
  await got.body.dump();
  assert.equal((await viewer.call('GET', `/jobs/${id}/content`)).status, 302);
  assert.deepEqual((await stranger.call('GET', '/jobs')).json.data, []);
  refused(await stranger.call('GET', `/jobs/${id}`), 404, 'job_not_found');
});

test('R-523: saved transcriptions are listed newest first without their text, and shown one by one', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) {
    site.gateway.clock.advance(1);
    ids.unshift((await site.made(byKey(key.key), 'transcription')).headers['x-request-id'] ?? '');
  }
  const first = (await viewer.call('GET', '/audio/transcriptions?limit=2')).json;
  assert.deepEqual([first.data.map(({ id }: { id: string }) => id), first.has_more], [ids.slice(0, 2), true]);
  const { id, created_at, completed_at, expires_at, ...rest } = first.data[0];
  assert.ok(created_at <= completed_at && completed_at < expires_at, id);
  assert.deepEqual(rest, {
    object: 'audio.transcription',
    model: 'site/transcribe',
    status: 'completed',
    settlement_state: 'settled',
    seconds: 1.5,
    usage: { credits: 3 },
  });
  const next = (await viewer.call('GET', `/audio/transcriptions?limit=2&after=${ids[1]}`)).json;
  assert.deepEqual([next.data.map((row: { id: string }) => row.id), next.has_more], [[ids[2]], false]);
  assert.ok((await sameAs(`/audio/transcriptions/${ids[0]}`)).result.text.length > 0);

  assert.deepEqual((await stranger.call('GET', '/audio/transcriptions')).json.data, []);
  assert.deepEqual((await stranger.call('GET', `/audio/transcriptions?after=${ids[0]}`)).json.data, []);
  refused(await stranger.call('GET', `/audio/transcriptions/${ids[0]}`), 404, 'transcription_not_found');
});

test('a transcription whose time is over is listed as expired', async () => {
  await site.made(byKey(key.key), 'transcription');
  const list = async () => (await owner.call('GET', '/audio/transcriptions?limit=1')).json.data[0];
  const { expires_at } = await list();
  // Nobody's session lives that long without use.
  await rowsOf(site.gateway, 'update transcriptions set expires_at = $1 where account_id = $2', [
    site.gateway.clock.now(),
    owner.accountId,
  ]);
  const expired = await list();
  assert.deepEqual([expired.status, expired.error.code], ['expired', 'transcription_expired']);
  assert.ok(expired.expires_at < expires_at);
});

test('files are listed with links that work, page by page, and only one’s own', async () => {
  const made: string[] = [];
  for (let count = 0; count < 3; count++) {
    site.gateway.clock.advance(1);
    made.unshift((await site.made(byKey(key.key), 'file')).json.id);
  }
  const first = (await viewer.call('GET', '/files?limit=2')).json;
  assert.deepEqual(
    first.data.map(({ id }: { id: string }) => id),
    made.slice(0, 2),
  );
  const { pathname, search } = new URL(first.data[0].url);
  const got = await request(site.gateway.url + pathname + search);
  assert.equal(got.statusCode, 200);
  await got.body.dump();
  const next = (await viewer.call('GET', `/files?limit=2&after=${made[1]}`)).json;
  assert.deepEqual([next.data.map(({ id }: { id: string }) => id), next.has_more], [[made[2]], false]);
  assert.deepEqual((await stranger.call('GET', '/files')).json.data, []);
  refused(await stranger.call('GET', `/files?after=${made[0]}`), 400, 'invalid_parameter');
});

test('a member deletes a file: it leaves the list, the quota and the store; a viewer deletes none', async () => {
  const member = await newMember(site.gateway, owner, 'member');
  const { id, url } = (await site.made(byKey(key.key), 'file')).json;
  const isStored = () => storedFiles(site.gateway).some((path) => path.includes(basename(new URL(url).pathname)));
  refused(await viewer.call('DELETE', `/files/${id}`), 403, 'insufficient_role');
  refused(await stranger.call('DELETE', `/files/${id}`), 404, 'file_not_found');
  assert.deepEqual((await member.call('DELETE', `/files/${id}`)).json, { id, object: 'file', deleted: true });
  refused(await member.call('DELETE', `/files/${id}`), 404, 'file_not_found');
  assert.ok(!(await viewer.call('GET', '/files?limit=100')).text.includes(id));
  assert.ok(isStored());
  await sweep();
  assert.ok(!isStored());
  const [row] = (await site.gateway.admin('GET', '/audit?limit=1')).json.data;
  assert.deepEqual([row.action, row.actor, row.target], ['file.delete', member.email, id]);
});

test('a file that a job was given stays in the store as long as the job needs it, and is deleted all the same', async () => {
  const { id, url } = (await site.made(byKey(key.key), 'file')).json;
  site.gateway.clock.advance(1);
  const body = { model: 'sandbox/image', prompt: 'a gate', size: '256x256', image: url };
  const job = await site.gateway.call('POST', '/v1/images/edits', { key: key.key, body });
  assert.equal(job.status, 202, job.text);
  assert.equal((await owner.call('DELETE', `/files/${id}`)).status, 200);
  await sweep();
  assert.equal((await site.ended(owner, job.json.id)).status, 'succeeded');
});
