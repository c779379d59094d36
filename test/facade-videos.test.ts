import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { pngOf } from './support/asked-forms.ts';
import type { NewCaller } from './support/gateway.ts';
import { clip } from './support/media-samples.ts';
import { MediaStudio, videoModel } from './support/media-studio.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { Apps } from './support/tokens.ts';

// Videos and files by a client library that is told nothing but an address and a key.

const CLIP = await clip({ seconds: 2 });
const PICTURE = pngOf();
const accepts = { seconds_max: 20, slots: ['input_reference'] };
const studio = new MediaStudio({
  delivered: { video: CLIP },
  models: [videoModel('film/any', [{ upstream: 'open-queue', model: 'any/filmer' }], accepts)],
});
before(() => studio.start());
after(() => studio.stop());
afterEach(() => studio.gateway.assertBooksBalance());

function clientOf({ key }: NewCaller): OpenAI {
  return new OpenAI({ baseURL: `${studio.gateway.url}/openai/v1`, apiKey: key, maxRetries: 0, fetch: following });
}

/** Links name the public address, which no test gateway has: they are followed to its own. */
const following: typeof fetch = async (url, init) => {
  const answer = await fetch(url, { ...init, redirect: 'manual' });
  const location = answer.headers.get('location');
  if (answer.status !== 302 || location === null) return answer;
  const { pathname, search } = new URL(location);
  return fetch(studio.gateway.url + pathname + search);
};

/** The library's types name the models of its author. */
const asked = (more: object = {}) =>
  ({ model: 'film/any', prompt: 'a gate opens', ...more }) as unknown as OpenAI.VideoCreateParams;

/** Looks after a video as the library for Python does: only these two words go on. */
async function polled(client: OpenAI, id: string): Promise<OpenAI.Video> {
  let video = await client.videos.retrieve(id);
  await until(async () => {
    studio.gateway.clock.advance(1);
    video = await client.videos.retrieve(id);
    return video.status !== 'queued' && video.status !== 'in_progress';
  });
  return video;
}

describe('the library openai makes videos', () => {
  test('and reads, lists, fetches and deletes them', async () => {
    const caller = await paidCaller(studio.gateway);
    const client = clientOf(caller);
    const made = await client.videos.create(asked({ seconds: '2' }));
    assert.deepEqual(
      { ...made },
      {
        id: made.id,
        object: 'video',
        model: 'film/any',
        status: 'queued',
        progress: 0,
        created_at: made.created_at,
        completed_at: null,
        expires_at: null,
        seconds: '2',
        size: '',
        prompt: 'a gate opens',
        remixed_from_video_id: null,
        error: null,
      },
    );
    const video = await polled(client, made.id);
    assert.deepEqual([video.status, video.progress, video.seconds], ['completed', 100, '2']);
    assert.match(video.size, /^\d+x\d+$/);
    assert.ok((video.expires_at ?? 0) > (video.completed_at ?? 0));
    assert.equal((await moneyOf(studio.gateway, caller)).spent, 20);
    const content = await client.videos.downloadContent(made.id);
    assert.deepEqual(Buffer.from(await content.arrayBuffer()), CLIP);
    await assert.rejects(client.videos.downloadContent(made.id, { variant: 'spritesheet' }), OpenAI.NotFoundError);
    assert.deepEqual(await client.videos.delete(made.id), { id: made.id, object: 'video.deleted', deleted: true });
    await assert.rejects(client.videos.retrieve(made.id), OpenAI.NotFoundError);
    await assert.rejects(client.videos.downloadContent(made.id), OpenAI.NotFoundError);
    assert.deepEqual(await Array.fromAsync(client.videos.list()), []);
    const job = await studio.read(caller, made.id);
    assert.deepEqual([job.status, job.usage.credits], ['succeeded', 20]);
    assert.deepEqual(await studio.assets(caller, made.id), []);
  });

  test('and deletes one that failed, which is then neither listed nor read, and still a job', async () => {
    const caller = await paidCaller(studio.gateway);
    const client = clientOf(caller);
    const { openQueue } = studio;
    openQueue.delivered.video = Buffer.from('no film at all');
    const { id } = await client.videos.create(asked());
    const failed = await polled(client, id);
    openQueue.delivered.video = CLIP;
    assert.equal(failed.status, 'failed');
    assert.deepEqual(
      (await Array.fromAsync(client.videos.list())).map((video) => video.id),
      [id],
    );
    assert.deepEqual(await client.videos.delete(id), { id, object: 'video.deleted', deleted: true });
    assert.deepEqual(await Array.fromAsync(client.videos.list()), []);
    await assert.rejects(client.videos.retrieve(id), OpenAI.NotFoundError);
    await assert.rejects(client.videos.delete(id), OpenAI.NotFoundError);
    assert.equal((await studio.read(caller, id)).status, 'failed');
    assert.equal((await moneyOf(studio.gateway, caller)).spent, 0);
  });

  test('page by page, in both orders', async () => {
    const caller = await paidCaller(studio.gateway);
    const client = clientOf(caller);
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) {
      ids.push((await client.videos.create(asked())).id);
      studio.gateway.clock.advance(1);
    }
    const listed = async (order: 'asc' | 'desc') =>
      (await Array.fromAsync(client.videos.list({ limit: 2, order }))).map(({ id }) => id);
    assert.deepEqual(await listed('asc'), ids);
    assert.deepEqual(await listed('desc'), ids.toReversed());
    for (const id of ids) assert.equal((await polled(client, id)).size.length > 0, true);
  });

  test('from a picture that is sent, linked or kept here', async () => {
    const caller = await paidCaller(studio.gateway);
    const client = clientOf(caller);
    const file = await toFile(PICTURE, 'gate.png', { type: 'image/png' });
    const kept = await client.files.create({ file, purpose: 'vision' });
    assert.ok('url' in kept);
    for (const input_reference of [file, { image_url: kept.url }, { file_id: kept.id }]) {
      const { id } = await client.videos.create(asked({ input_reference }));
      assert.equal((await polled(client, id)).status, 'completed');
    }
    const unknown = client.videos.create(asked({ input_reference: { file_id: 'file_unknown' } }));
    await assert.rejects(unknown, (error) => error instanceof OpenAI.NotFoundError && error.code === 'file_not_found');
  });

  test('an app needs the scope of files to name one', async (t) => {
    const caller = await paidCaller(studio.gateway);
    const file = await toFile(PICTURE, 'gate.png', { type: 'image/png' });
    const { id: file_id } = await clientOf(caller).files.create({ file, purpose: 'vision' });
    const apps = await Apps.open(studio.gateway);
    t.after(() => apps.close());
    const make = async (scopes: readonly string[]) => {
      const key = await apps.token(await apps.grant(caller.accountId, { scopes }));
      return clientOf({ ...caller, key }).videos.create(asked({ input_reference: { file_id } }));
    };
    await assert.rejects(make(['user:inference:video', 'user:jobs']), OpenAI.PermissionDeniedError);
    const { id } = await make(['user:inference:video', 'user:jobs', 'user:files']);
    assert.equal((await polled(clientOf(caller), id)).status, 'completed');
  });

  test('one that runs has no content and cannot be deleted, and the library does not try again', async () => {
    const caller = await paidCaller(studio.gateway);
    const { gateway } = studio;
    const { id } = await clientOf(caller).videos.create(asked());
    for (const [method, path] of [
      ['GET', `/openai/v1/videos/${id}/content`],
      ['DELETE', `/openai/v1/videos/${id}`],
    ] as const) {
      const answer = await gateway.call(method, path, { key: caller.key });
      // It may have ended meanwhile only if time has passed.
      assert.deepEqual([answer.status, answer.json.error.code], [409, 'job_asset_not_ready']);
      assert.equal(answer.headers['x-should-retry'], 'false');
    }
    assert.equal((await polled(clientOf(caller), id)).status, 'completed');
    const headers = { 'content-type': 'application/json' };
    const deleted = await gateway.call('DELETE', `/openai/v1/videos/${id}`, { key: caller.key, headers });
    assert.deepEqual([deleted.status, deleted.json.deleted], [200, true]);
  });

  test('says how often to look, and tells a failure in its own words', async () => {
    const caller = await paidCaller(studio.gateway);
    studio.openQueue.delivered.video = Buffer.from('this is no clip');
    try {
      const made = await studio.gateway.call('POST', '/openai/v1/videos', { key: caller.key, body: asked() });
      assert.deepEqual([made.status, made.headers['openai-poll-after-ms']], [200, '3000']);
      const video = await polled(clientOf(caller), made.json.id);
      assert.deepEqual([video.status, video.error?.code], ['failed', 'undeliverable_output']);
      assert.equal((await moneyOf(studio.gateway, caller)).spent, 0);
    } finally {
      studio.openQueue.delivered.video = CLIP;
    }
  });

  test('with a NUL in the prompt', async () => {
    const caller = await paidCaller(studio.gateway);
    const client = clientOf(caller);
    const prompt = 'a\0gate opens';
    const { id } = await client.videos.create(asked({ prompt, seconds: '2' }));
    const video = await polled(client, id);
    assert.deepEqual([video.prompt, video.seconds], [prompt, '2']);
    assert.deepEqual(
      (await client.videos.list()).data.map((listed) => [listed.id, listed.prompt]),
      [[id, prompt]],
    );
  });

  test('a retry joins the job of the first attempt', async () => {
    const caller = await paidCaller(studio.gateway);
    const made = async (count: string) => {
      const headers = { 'x-stainless-lang': 'python', 'x-stainless-retry-count': count };
      return (await studio.gateway.call('POST', '/openai/v1/videos', { key: caller.key, headers, body: asked() })).json
        .id;
    };
    const first = await made('0');
    assert.equal(await made('1'), first);
    await polled(clientOf(caller), first);
  });
});

test('the library openai keeps, lists, reads and deletes files', async () => {
  const caller = await paidCaller(studio.gateway);
  const client = clientOf(caller);
  const names = ['one.png', 'two.png', 'three.png'];
  for (const name of names) {
    const file = await toFile(PICTURE, name, { type: 'image/png' });
    const kept = await client.files.create({ file, purpose: 'vision' });
    const { object, bytes, filename, purpose, status } = kept;
    assert.deepEqual([object, bytes, filename, purpose, status], ['file', PICTURE.length, name, 'vision', 'processed']);
    studio.gateway.clock.advance(1);
  }
  const files = await Array.fromAsync(client.files.list({ limit: 2 }));
  assert.deepEqual(
    files.map(({ filename }) => filename),
    names.toReversed(),
  );
  const [last] = files;
  assert.ok(last !== undefined);
  assert.deepEqual(await client.files.retrieve(last.id), last);
  assert.deepEqual((await client.files.waitForProcessing(last.id)).status, 'processed');
  const content = await client.files.content(last.id);
  assert.deepEqual(Buffer.from(await content.arrayBuffer()), PICTURE);
  assert.deepEqual(await client.files.delete(last.id), { id: last.id, object: 'file', deleted: true });
  await assert.rejects(client.files.retrieve(last.id), OpenAI.NotFoundError);
  assert.equal((await Array.fromAsync(client.files.list())).length, 2);
});
