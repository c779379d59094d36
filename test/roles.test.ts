import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AssemblyAiEmulator } from '../src/vendors/assemblyai/emulator.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { CLIP, CLIP_PRICE, earModel, TRANSCRIPTIONS } from './support/booth.ts';
import { FetchTarget } from './support/fetch-target.ts';
import { ADMIN_TOKEN, type Answer } from './support/gateway.ts';
import { chatBody, tokenModel } from './support/paid-calls.ts';
import { atEnd, until } from './support/postgres.ts';
import { ownDatabase, Program } from './support/program.ts';
import { imageModel } from './support/studio.ts';

const UPSTREAM_KEY = 'sk-upstream';

/** A deployment on one database, whose processes are started one by one in the role that each is to have. */
class Deployment {
  readonly direct = new OpenAiEmulator();
  readonly tasks = new AssemblyAiEmulator({ apiKey: UPSTREAM_KEY });
  readonly #t: TestContext;
  #settings: Record<string, string> = {};

  private constructor(t: TestContext) {
    this.#t = t;
  }

  static async open(t: TestContext): Promise<Deployment> {
    const deployment = new Deployment(t);
    const { direct, tasks } = deployment;
    await Promise.all([direct.start(), tasks.start()]);
    atEnd(t, () => direct.stop());
    atEnd(t, () => tasks.stop());
    deployment.#settings = {
      ...(await ownDatabase(t)),
      TOLLGATE_TEST_CLOCK: '1',
      TOLLGATE_FETCH_ALLOW: new URL(direct.url).host,
    };
    return deployment;
  }

  start(role: 'serve' | 'work' | 'both', more: Record<string, string> = {}): Promise<Program> {
    return Program.start(this.#t, { ...this.#settings, ...more, TOLLGATE_ROLE: role });
  }

  /** Applies a configuration, and makes an account with credits. Resolves to its key. */
  async prepare(at: Program): Promise<string> {
    const upstreams = [
      { id: 'direct', vendor: 'openai', base_url: this.direct.url },
      { id: 'tasks', vendor: 'assemblyai', base_url: this.tasks.url, api_key: UPSTREAM_KEY },
    ];
    const models = [
      imageModel('a/picture', [{ upstream: 'direct', model: 'gpt-image-1' }]),
      tokenModel('a/chat', ['direct']),
      earModel('a/ear', ['tasks']),
    ];
    await admin(at, 'PUT', '/config', { upstreams, models });
    const { id } = await admin(at, 'POST', '/accounts', { name: 'Roles' });
    await admin(at, 'POST', `/accounts/${id}/grants`, { credits: 1000 });
    return (await admin(at, 'POST', `/accounts/${id}/keys`, { name: 'roles' })).key;
  }
}

async function admin(at: Program, method: string, path: string, body?: unknown): Promise<Answer['json']> {
  const answer = await at.call(method, `/api/admin${path}`, { key: ADMIN_TOKEN, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Every duty and every look at the queue has been done once when this resolves. */
function advance(at: Program): Promise<unknown> {
  return admin(at, 'POST', '/clock', { advance_seconds: 1 });
}

test('R-197: a process that only serves leaves its jobs in the queue, and one that only works drives them', async (t) => {
  const deployment = await Deployment.open(t);
  const serving = await deployment.start('serve');
  const key = await deployment.prepare(serving);
  const body = { model: 'a/picture', prompt: 'a gate' };
  const first = (await serving.call('POST', '/v1/images/generations', { key, body })).json;
  await advance(serving);
  const status = async ({ id }: { id: string }) => (await serving.get(`/v1/jobs/${id}`, key)).json.status;
  assert.equal(await status(first), 'queued');
  const warnings = async () => (await serving.get('/healthz')).json.warnings.join();
  assert.match(await warnings(), /no process of this deployment works on jobs/);

  const working = await deployment.start('work');
  await until(async () => !['queued', 'running'].includes(await status(first)));
  assert.equal(await status(first), 'succeeded');
  await until(async () => (await warnings()) === '');
  const second = (await serving.call('POST', '/v1/images/generations', { key, body })).json;
  await until(async () => (await status(second)) === 'succeeded');
  assert.equal((await serving.call('POST', '/v1/chat/completions', { key, body: chatBody('a/chat') })).status, 200);
  assert.equal(deployment.direct.submissions.length, 2);
  assert.equal((await admin(serving, 'GET', '/books')).balanced, true);

  assert.equal((await working.get('/healthz')).status, 200);
  for (const path of ['/v1/models', '/openapi.json', '/api/admin/accounts', '/sign-in', '/']) {
    const refused = await working.get(path, ADMIN_TOKEN);
    assert.deepEqual([path, refused.status, refused.json?.error?.code], [path, 404, 'not_found']);
  }
  assert.deepEqual([await working.kill('SIGTERM'), await serving.kill('SIGTERM')], [0, 0]);
});

test('R-426, R-528: a serving process that stops hands its transcriptions to one that works, at once', async (t) => {
  const deployment = await Deployment.open(t);
  using files = await FetchTarget.start((_request, response) => response.end(CLIP));
  const allow = { TOLLGATE_FETCH_ALLOW: `127.0.0.1:${files.port}` };
  const serving = await deployment.start('serve', allow);
  const key = await deployment.prepare(serving);
  await deployment.start('work');
  const body = { model: 'a/ear', url: files.at('127.0.0.1', '/clip.wav') };
  const left = serving.call('POST', TRANSCRIPTIONS, { key, body });
  left.catch(() => undefined);
  await until(() => deployment.tasks.count('read') > 0);
  const stopped = serving.kill('SIGTERM');
  const reading = await deployment.start('serve');
  const { request_id: id } = (await reading.get('/v1/credits/transactions', key)).json.data[0];
  deployment.tasks.complete(deployment.tasks.tasks[0]?.id ?? '');
  // Its caller waits and is answered, or was cut off by the end of the drain: the record comes to its end in both cases.
  await Promise.allSettled([left, stopped]);
  await until(async () => (await reading.get(`${TRANSCRIPTIONS}/${id}`, key)).json.status === 'completed');
  assert.equal((await reading.get('/v1/credits', key)).json.spent, CLIP_PRICE);
  assert.equal(deployment.tasks.count('create'), 1);
  assert.equal((await admin(reading, 'GET', '/books')).balanced, true);
});

test('R-526: a role that needs other processes is refused where none can reach the database', async (t) => {
  const told = await Program.refusal(t, { TOLLGATE_ROLE: 'serve' });
  assert.match(told, /TOLLGATE_ROLE other than both needs DATABASE_URL/);
});
