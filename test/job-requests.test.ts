import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { FILE_KEPT_MS } from '../src/limits.ts';
import { atConsole, byKey, ConsoleSite } from './support/console-site.ts';
import { FetchTarget } from './support/fetch-target.ts';
import type { Answer } from './support/gateway.ts';
import { picture } from './support/media-samples.ts';
import { newMember, newOperator, type SignedInPerson } from './support/people.ts';

const PICTURE = await picture('png', { width: 4, height: 4 });

const site = new ConsoleSite();
let owner: SignedInPerson;
/** Where pictures are fetched from. */
let target: FetchTarget;
before(async () => {
  target = await FetchTarget.start((_request, response) => response.end(PICTURE));
  await site.start({ settings: { TOLLGATE_FETCH_ALLOW: `127.0.0.1:${target.port}` } });
  owner = await site.owner();
});
after(async () => {
  await site.stop();
  target[Symbol.dispose]();
});
afterEach(() => site.gateway.assertBooksBalance());

async function requestOf(jobId: string, person = owner): Promise<Answer['json']> {
  const answer = await person.call('GET', `/jobs/${jobId}/request`);
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.headers['cache-control'] ?? '', /no-store/);
  return answer.json;
}

async function made(kind: string): Promise<string> {
  const { id } = (await site.made(atConsole(owner), kind)).json;
  assert.equal((await site.ended(owner, id)).status, 'succeeded');
  return id;
}

test('R-523: a job tells what was asked, where, and when it came how far, to a viewer and to an operator', async () => {
  const id = await made('picture');
  const viewer = await newMember(site.gateway, owner, 'viewer');
  const told = await requestOf(id, viewer);
  assert.deepEqual([told.endpoint, told.path, told.can_run_again], ['images', '/v1/images/generations', true]);
  assert.deepEqual(told.body, { model: 'sandbox/image', prompt: 'a gate', size: '256x256' });
  assert.deepEqual(told.inputs, []);
  const { created_at, accepted_at, finished_at, dispatch_deadline_at } = told.timeline;
  assert.ok(created_at <= accepted_at && accepted_at <= finished_at);
  assert.equal(dispatch_deadline_at, created_at + 600);
  assert.doesNotMatch(JSON.stringify(told), /upstream|vendor/);
  const byOperator = await site.gateway.admin('GET', `/jobs/${id}/request`);
  assert.deepEqual(byOperator.json.body, told.body, byOperator.text);
  const operator = await newOperator(site.gateway, 'auditor');
  const atBrowser = await site.gateway.call('GET', `/api/admin/jobs/${id}/request`, { headers: operator.headers });
  assert.equal(atBrowser.status, 200);
  assert.equal((await site.gateway.admin('GET', '/jobs/job_none/request')).json.error.code, 'job_not_found');
});

const editOf = (image: string) => ({ model: 'sandbox/image', prompt: 'a blue gate', size: '256x256', image });

test('R-523: an edit of a file runs again from a fresh link, for as long as the file is kept', async () => {
  const file = (await site.made(atConsole(owner), 'file')).json;
  const { key } = await site.keyOf(owner);
  const made = await site.gateway.call('POST', '/v1/images/edits', { key, body: editOf(file.url) });
  assert.equal((await site.ended(owner, made.json.id)).status, 'succeeded');
  const { body, path, inputs, can_run_again } = await requestOf(made.json.id);
  const [input] = inputs;
  assert.deepEqual([path, input.field, can_run_again], ['/v1/images/edits', 'reference_images[0]', true]);
  assert.deepEqual([body.reference_images, input.link], [[input.url], input.url]);
  const fetched = await fetch(input.link.replace(site.gateway.config.publicUrl, site.gateway.url));
  assert.deepEqual([fetched.status, fetched.headers.get('content-type')], [200, 'image/png']);
  const again = await site.gateway.call('POST', path, { key, body });
  assert.equal(again.status, 202, again.text);
  assert.equal((await site.ended(owner, again.json.id)).status, 'succeeded');
  site.gateway.clock.advance(FILE_KEPT_MS / 1000);
  const later = await requestOf(again.json.id);
  assert.deepEqual([later.inputs[0].link, later.inputs[0].url, later.can_run_again], [null, null, false]);
});

test('R-523: an edit of a picture at an address runs again from that address, whatever is stored', async () => {
  const { key } = await site.keyOf(owner);
  const url = `http://127.0.0.1:${target.port}/gate.png`;
  const made = await site.gateway.call('POST', '/v1/images/edits', { key, body: editOf(url) });
  assert.equal(made.status, 202, made.text);
  const open = await requestOf(made.json.id);
  assert.deepEqual([open.inputs[0].url, open.can_run_again], [url, true]);
  assert.notEqual(open.inputs[0].link, null);
  await site.ended(owner, made.json.id);
  const { inputs, body } = await requestOf(made.json.id);
  assert.deepEqual([inputs[0].url, inputs[0].link, body.reference_images], [url, null, [url]]);
});

test('R-523: what came with the request is shown while the job is open, goes with it, and is told to be gone', async () => {
  const { id } = (await site.made(atConsole(owner), 'edit')).json;
  const open = await requestOf(id);
  const [input] = open.inputs;
  assert.ok(input.bytes > 0 && input.url === null && input.kept_until > open.timeline.created_at);
  const { key } = await site.keyOf(owner);
  const reused = await site.gateway.call('POST', '/v1/images/edits', { key, body: editOf(input.link) });
  assert.equal(reused.json.error?.code, 'invalid_input_url', reused.text);
  await site.ended(owner, id);
  const { body, inputs, can_run_again } = await requestOf(id);
  assert.deepEqual([inputs[0].link, inputs[0].url, inputs[0].kept_until, can_run_again], [null, null, null, false]);
  assert.deepEqual(body, { model: 'sandbox/image', prompt: 'a blue gate', size: '256x256' });
});

for (const [kind, path, body] of [
  ['video', '/v1/videos', { model: 'sandbox/video', prompt: 'a gate', seconds: 1, size: '854x480' }],
  ['music', '/v1/audio/music', { model: 'sandbox/music', prompt: 'a gate', duration_seconds: 1 }],
] as const) {
  test(`R-523: what is told of a job of kind ${kind} makes the same call again`, async () => {
    const { key } = await site.keyOf(owner);
    const { id } = (await site.made(byKey(key), kind)).json;
    const told = await requestOf(id);
    assert.deepEqual([told.path, told.body], [path, body]);
    assert.deepEqual([told.timeline.finished_at], [null]);
    assert.equal((await site.gateway.call('POST', path, { key, body: told.body })).status, 202);
    await site.ended(owner, id);
  });
}

test('R-523: a number that a double cannot hold is told as it was sent', async () => {
  const { key } = await site.keyOf(owner);
  const raw = '{"model":"sandbox/image","prompt":"p","size":"256x256","house_seed":9007199254740993}';
  const headers = { 'content-type': 'application/json' };
  const { json } = await site.gateway.call('POST', '/v1/images/generations', { key, raw, headers });
  const told = await owner.call('GET', `/jobs/${json.id}/request`);
  assert.match(told.text, /"house_seed":9007199254740993\b/);
  await site.ended(owner, json.id);
});
