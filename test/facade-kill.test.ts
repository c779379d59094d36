import assert from 'node:assert/strict';
import { test } from 'node:test';
import { request } from 'undici';
import { FalEmulator } from '../src/vendors/fal/emulator.ts';
import { ADMIN_TOKEN, type Answer } from './support/gateway.ts';
import { atEnd, until } from './support/postgres.ts';
import { ownDatabase, Program } from './support/program.ts';
import { IMAGE_PRICE, imageModel, KEY } from './support/studio.ts';

async function admin(at: Program, method: string, path: string, body?: unknown): Promise<Answer['json']> {
  const answer = await at.call(method, `/api/admin${path}`, { key: ADMIN_TOKEN, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

test('a gateway is killed while a request waits for its pictures: the retry joins the job, which is charged once', async (t) => {
  const queue = new FalEmulator({ apiKey: KEY });
  await queue.start();
  atEnd(t, () => queue.stop());
  const allow = [queue.url, queue.files.url].map((url) => new URL(url).host).join(',');
  const settings = { ...(await ownDatabase(t)), TOLLGATE_TEST_CLOCK: '1', TOLLGATE_FETCH_ALLOW: allow };
  const first = await Program.start(t, settings);
  const upstreams = [{ id: 'queue', vendor: 'fal', base_url: queue.url, api_key: KEY }];
  const models = [imageModel('a/picture', [{ upstream: 'queue', model: 'fal-ai/flux/dev' }])];
  await admin(first, 'PUT', '/config', { upstreams, models });
  const { id } = await admin(first, 'POST', '/accounts', { name: 'Killed' });
  await admin(first, 'POST', `/accounts/${id}/grants`, { credits: 1000 });
  const { key } = await admin(first, 'POST', `/accounts/${id}/keys`, { name: 'killed' });
  const made = async (at: Program, count: string) => {
    const client = { 'x-stainless-lang': 'js', 'x-stainless-retry-count': count };
    const { statusCode, body } = await request(`${at.url}/openai/v1/images/generations`, {
      method: 'POST',
      reset: true,
      headers: { ...client, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'a/picture', prompt: 'a gate' }),
    });
    return { status: statusCode, json: JSON.parse(await body.text()) };
  };
  const waiting = made(first, '0');
  waiting.catch(() => undefined);
  // Its acceptance is written down: a kill before that leaves it open whether the upstream has taken the work.
  await until(async () => (await first.get('/v1/jobs', key)).json.data[0]?.status === 'running');
  const [job] = (await first.get('/v1/jobs', key)).json.data;
  await first.kill('SIGKILL');
  await assert.rejects(waiting);

  const second = await Program.start(t, settings);
  const answer = made(second, '1');
  queue.tasks[0]?.advance('COMPLETED');
  let isAnswered = false;
  void answer.finally(() => {
    isAnswered = true;
  });
  await until(async () => {
    // The lease of the dead process runs out by this clock.
    if (!isAnswered) await admin(second, 'POST', '/clock', { advance_seconds: 5 });
    return isAnswered;
  });
  const { status, json } = await answer;
  assert.deepEqual([status, json.job_id, json.data.length], [200, job.id, 1]);
  assert.deepEqual([queue.tasks.length, (await second.get('/v1/jobs', key)).json.data.length], [1, 1]);
  assert.equal((await second.get('/v1/credits', key)).json.spent, IMAGE_PRICE);
  assert.equal((await admin(second, 'GET', '/books')).balanced, true);
});
