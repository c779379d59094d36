import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { Client } from 'pg';
import type { Answer, NewCaller } from './support/gateway.ts';
import { anotherKey, objectFolder, rowsOf } from './support/keeping.ts';
import { MUSIC, musicModel, VIDEOS, videoModel } from './support/media-models.ts';
import { clip, toneAs } from './support/media-samples.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { RawConnection, requestText } from './support/raw-http.ts';
import { CLIP_PRICE, IMAGE_PRICE, IMAGES, Studio } from './support/studio.ts';

const files = { video: await clip({ seconds: 4 }), audio: await toneAs('mp3', { seconds: 3 }) };
const studio = new Studio({ readsUntilDone: 1, files });
const MODELS = [
  videoModel('studio/clip', [{ upstream: 'queue', model: 'fal-ai/veo3.1' }]),
  musicModel('studio/song', [{ upstream: 'queue', model: 'fal-ai/elevenlabs/music' }]),
];
before(() => studio.start());
after(() => studio.stop());

let caller: NewCaller;
let stranger: NewCaller;
beforeEach(async () => {
  await studio.gateway.putConfig(studio.document({}, MODELS));
  studio.gateway.clock.advance(3600);
  [caller, stranger] = await Promise.all([paidCaller(studio.gateway), paidCaller(studio.gateway)]);
});
afterEach(() => studio.gateway.assertBooksBalance());

const image = (more: object = {}) => ({ model: 'studio/queue', prompt: 'a gate', ...more });
const song = { model: 'studio/song', prompt: 'a march' };

const READS = [
  '/v1/jobs/{id}',
  '/v1/videos/{id}',
  '/v1/audio/music/{id}',
  '/v1/jobs/{id}/assets',
  '/v1/audio/music/{id}/content',
];

function get(path: string, id: string, { key }: NewCaller = caller): Promise<Answer> {
  return studio.gateway.call('GET', path.replace('{id}', id), { key });
}

function refused(answer: Answer, status: number, code: string, what?: string): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [status, code], what ?? answer.text);
}

/** All that two answers to the same question have in common. */
function told({ status, headers, text }: Answer): unknown {
  const { 'x-request-id': _id, date: _date, ...rest } = headers;
  return { status, headers: rest, text };
}

/** A refusal names the path that was asked for, and with it the job. */
function withoutId(answer: Answer): Answer {
  return { ...answer, text: answer.text.replace(/job_\w{24}/, 'job_') };
}

async function made(path = IMAGES, body: object = image()): Promise<string> {
  const job = await studio.create(caller, path, { ...body });
  assert.equal((await studio.ended(caller, job.id)).status, 'succeeded');
  return job.id;
}

/** A job that an upstream has, and goes on having until the promise is kept. */
async function held(body: object = image()): Promise<{ id: string; release: () => void }> {
  const hold = Promise.withResolvers<void>();
  studio.queue.script('submit', { kind: 'slow', until: hold.promise });
  const { id } = await studio.create(caller, IMAGES, { ...body });
  return { id, release: hold.resolve };
}

describe('reading a job', () => {
  for (const [kind, path, body] of [
    ['image', IMAGES, image()],
    ['video', VIDEOS, { model: 'studio/clip', prompt: 'a gate opens', seconds: 4 }],
    ['audio', MUSIC, song],
  ] as const) {
    test(`R-143, R-185, R-216, R-217, R-218, R-219: a job of kind ${kind} has one body under every path`, async () => {
      const id = await made(path, body);
      const [plain, ...aliases] = await Promise.all(READS.slice(0, 3).map((read) => get(read, id)));
      assert.deepEqual([plain?.status, plain?.json.id, plain?.json.kind], [200, id, kind]);
      for (const alias of aliases) assert.deepEqual(told(alias), told(plain as Answer));
    });
  }

  test('R-188, R-189, R-190, R-191, R-192, R-193: what is not so yet is not told', async () => {
    const { id, release } = await held();
    const now = Math.floor(studio.gateway.clock.nowMs() / 1000);
    const queued = await studio.read(caller, id);
    assert.deepEqual([queued.created_at, queued.dispatch_deadline_at], [now, now + 600]);
    release();
    const running = await studio.inState(caller, id, 'running');
    const succeeded = await studio.ended(caller, id);
    studio.queue.outcome({ kind: 'failure', error: 'unscheduled' });
    const failed = await studio.ended(caller, (await studio.create(caller, IMAGES, image())).id);
    const later = ['updated_at', 'finished_at', 'error_code', 'error', 'usage'];
    assert.deepEqual(
      [queued, running, succeeded, failed].map((job) => later.filter((name) => name in job)),
      [[], ['updated_at'], ['updated_at', 'finished_at', 'usage'], later],
    );
    for (const { updated_at, finished_at } of [succeeded, failed]) {
      assert.ok(Number.isInteger(updated_at) && Number.isInteger(finished_at));
    }
    assert.deepEqual([typeof failed.error, failed.error_code], ['string', 'upstream_failed']);
  });

  test('R-184: a job that was canceled long ago can still be read', async () => {
    const id = await made();
    await rowsOf(studio.gateway, `update jobs set status = 'canceled' where id = $1`, [id]);
    assert.equal((await studio.read(caller, id)).status, 'canceled');
    refused(await get('/v1/jobs/{id}/assets', id), 409, 'job_asset_not_ready');
    await rowsOf(studio.gateway, `update jobs set status = 'succeeded' where id = $1`, [id]);
  });

  test('R-196: any key of the account reads it', async () => {
    const id = await made();
    const other = await anotherKey(studio.gateway, caller);
    for (const path of READS.slice(0, 4)) assert.equal((await get(path, id, other)).status, 200, path);
  });

  for (const path of [...READS, '/v1/videos/{id}/content']) {
    test(`R-195, R-220: ${path} tells nobody that a job is somebody else’s`, async () => {
      const id = await made(MUSIC, song);
      const [foreign, unknown] = [await get(path, id, stranger), await get(path, `job_${'x'.repeat(24)}`, stranger)];
      refused(foreign, 404, 'job_not_found');
      assert.deepEqual(told(foreign), told(unknown));
    });
  }

  test('R-208, R-195: nothing cancels a job, neither its owner nor a stranger', async () => {
    const { id, release } = await held();
    for (const [method, path] of [
      ['DELETE', '/v1/jobs/{id}'],
      ['POST', '/v1/jobs/{id}/cancel'],
      ['DELETE', '/v1/videos/{id}'],
    ] as const) {
      const answers = await Promise.all(
        [id, `job_${'x'.repeat(24)}`].flatMap((named) =>
          [caller, stranger].map(({ key }) => studio.gateway.call(method, path.replace('{id}', named), { key })),
        ),
      );
      for (const answer of answers) {
        refused(answer, 404, 'not_found', `${method} ${path}`);
        assert.deepEqual(told(withoutId(answer)), told(withoutId(answers[0] as Answer)));
      }
    }
    assert.equal((await studio.read(caller, id)).status, 'queued');
    release();
    assert.equal((await studio.ended(caller, id)).status, 'succeeded');
    assert.equal((await moneyOf(studio.gateway, caller)).spent, IMAGE_PRICE);
  });

  test('R-209: a caller who leaves and never asks again still gets and pays for the job', async () => {
    const before = studio.queue.tasks.length;
    const connection = await RawConnection.open(studio.gateway.url);
    const headers = [`Authorization: Bearer ${caller.key}`, 'Content-Type: application/json'];
    await connection.send(requestText(`POST ${IMAGES}`, headers, JSON.stringify(image())));
    const { status, json } = await connection.answer();
    connection.reset();
    assert.equal(status, 202);
    await until(() => {
      studio.gateway.clock.advance(0.1);
      return studio.queue.tasks.length > before && studio.queue.tasks.at(-1)?.state === 'COMPLETED';
    });
    assert.equal((await studio.ended(caller, json.id)).status, 'succeeded');
    assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 960, reserved: 0, spent: IMAGE_PRICE });
  });

  test('R-229: what cannot be an id is not found, and the table of jobs is not asked', async () => {
    const shortest = 'x'.repeat(10);
    const longest = 'x'.repeat(64);
    const client = new Client({ connectionString: studio.gateway.database.url });
    await client.connect();
    try {
      await client.query('begin; lock table jobs in access exclusive mode');
      for (const id of [
        'job_',
        `job_${shortest.slice(1)}`,
        `job_${longest}x`,
        `JOB_${shortest}`,
        `ast_${shortest}`,
        'job_0123456789%00',
        'job_0123456789%20',
        'job_01234567%F0%9F%98%80',
        "job_'or'1'='1'--",
      ]) {
        for (const path of READS) refused(await get(path, id), 404, 'job_not_found', `${path} ${id}`);
      }
      // These are looked up, and so cannot be answered.
      const asked = await Promise.all([shortest, longest].map((end) => get('/v1/jobs/{id}', `job_${end}`)));
      for (const answer of asked) refused(answer, 503, 'database_unavailable');
    } finally {
      await client.end();
    }
  });

  test('R-230: reads count against the rate, and one look at the list covers every open job', async () => {
    const open = await Promise.all([held(), held(), held()]);
    const ids = open.map(({ id }) => id);
    const usual = await anotherKey(studio.gateway, caller, { rpm: undefined });
    for (let read = 0; read < 59; read++) assert.equal((await get('/v1/jobs/{id}', ids[0] ?? '', usual)).status, 200);
    const list = await studio.gateway.call('GET', '/v1/jobs', usual);
    assert.deepEqual(new Set(list.json.data.map((job: { id: string }) => job.id)), new Set(ids));
    refused(await get('/v1/jobs/{id}', ids[0] ?? '', usual), 429, 'rate_limited');
    for (const { release } of open) release();
    for (const id of ids) await studio.ended(caller, id);
  });
});

describe('reading what a job has made', () => {
  test('R-221, R-222: its assets have fresh links and are not to be kept', async () => {
    const id = await made(IMAGES, image({ n: 2 }));
    const answer = await get('/v1/jobs/{id}/assets', id);
    assert.deepEqual([answer.status, answer.headers['cache-control']], [200, 'private, no-store']);
    assert.deepEqual(Object.keys(answer.json), ['items']);
    for (const { url } of answer.json.items) assert.equal((await studio.fetched(url)).status, 200);
  });

  test('R-223, R-224: before there is any, there is none to be had', async () => {
    const { id, release } = await held();
    for (const path of READS.slice(3)) refused(await get(path, id), 409, 'job_asset_not_ready', path);
    release();
    await studio.inState(caller, id, 'running');
    for (const path of READS.slice(3)) refused(await get(path, id), 409, 'job_asset_not_ready', path);
    await studio.ended(caller, id);
    assert.equal((await get('/v1/jobs/{id}/assets', id)).status, 200);
  });

  test('R-227: of a job that brought nothing there never is any', async () => {
    studio.queue.outcome({ kind: 'failure', error: 'unscheduled' });
    const failed = await studio.create(caller, IMAGES, image());
    assert.equal((await studio.ended(caller, failed.id)).status, 'failed');
    const unscheduled = { kind: 'error', error: 'unscheduled' } as const;
    studio.queue.script('submit', unscheduled, unscheduled);
    const late = await studio.create(caller, IMAGES, image());
    await studio.gateway.putConfig(studio.document({ queue: { enabled: false } }));
    studio.gateway.clock.advance(601);
    assert.equal((await studio.ended(caller, late.id, 1)).status, 'queue_expired');
    for (const { id } of [failed, late]) {
      for (const path of READS.slice(3)) refused(await get(path, id), 409, 'job_asset_not_ready', path);
    }
    assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 1000, reserved: 0, spent: 0 });
  });

  test('R-225: the content of a piece of music is one redirect away, without a credential', async () => {
    const id = await made(MUSIC, song);
    const answer = await get('/v1/audio/music/{id}/content', id);
    assert.deepEqual([answer.status, answer.headers['cache-control'], answer.text], [302, 'private, no-store', '']);
    const content = await studio.fetched(answer.headers.location ?? '');
    assert.deepEqual([content.status, content.headers['content-type']], [200, 'audio/mpeg']);
    assert.ok(content.bytes.equals(files.audio));
    studio.gateway.clock.advance(2);
    assert.notEqual((await get('/v1/audio/music/{id}/content', id)).headers.location, answer.headers.location);
    assert.equal((await moneyOf(studio.gateway, caller)).spent, CLIP_PRICE);
  });

  test('R-226: with the store away its links are, and they come back with it', async () => {
    const id = await made();
    const [asset] = await studio.assets(caller, id);
    const folder = objectFolder(studio.gateway);
    renameSync(folder, `${folder}-away`);
    try {
      for (const path of READS.slice(3)) {
        const answer = await get(path, id);
        refused(answer, 503, 'job_service_unavailable', path);
        assert.equal(answer.headers['retry-after'], '1');
      }
      assert.equal((await studio.fetched(asset.url)).status, 503);
      assert.equal((await get('/v1/jobs/{id}', id)).status, 200);
      refused(await get('/v1/jobs/{id}/assets', id, stranger), 404, 'job_not_found');
    } finally {
      renameSync(`${folder}-away`, folder);
    }
    assert.equal((await get('/v1/jobs/{id}/assets', id)).status, 200);
    assert.equal((await studio.fetched(asset.url)).status, 200);
  });
});

describe('the list of jobs', () => {
  const list = (query = '', { key }: NewCaller = caller) => studio.gateway.call('GET', `/v1/jobs${query}`, { key });
  const idsOf = ({ json }: Answer): string[] => json.data.map((job: { id: string }) => job.id);

  test('R-231: it is the account’s own, newest first, page by page', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) {
      ids.unshift(await made());
      studio.gateway.clock.advance(1);
    }
    await studio.create(stranger, IMAGES, image());
    const whole = await list();
    assert.deepEqual([whole.json.object, whole.json.has_more, idsOf(whole)], ['list', false, ids]);
    assert.equal(whole.headers['cache-control'], 'private, no-store');
    assert.deepEqual(whole.json.data[0], await studio.read(caller, ids[0] ?? ''));
    const first = await list('?limit=2');
    assert.deepEqual([idsOf(first), first.json.has_more], [ids.slice(0, 2), true]);
    const second = await list(`?limit=3&after=${ids[1]}`);
    assert.deepEqual([idsOf(second), second.json.has_more], [ids.slice(2), false]);
    assert.deepEqual(idsOf(await list(`?after=${ids[4]}`)), []);
  });

  test('R-231: jobs of one moment are neither shown twice nor left out', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, () => studio.create(caller, IMAGES, image())));
    const seen: string[] = [];
    for (let after = ''; ; after = `&after=${seen.at(-1)}`) {
      const answer = await list(`?limit=1${after}`);
      seen.push(...idsOf(answer));
      if (!answer.json.has_more) break;
    }
    assert.equal(seen.length, made.length);
    assert.deepEqual(new Set(seen), new Set(made.map(({ id }) => id)));
    for (const { id } of made) await studio.ended(caller, id);
  });

  test('R-231: it can be narrowed to a state, a kind and a model', async () => {
    const picture = await made();
    const music = await made(MUSIC, song);
    studio.queue.outcome({ kind: 'failure', error: 'unscheduled' });
    const failed = await studio.create(caller, IMAGES, image());
    await studio.ended(caller, failed.id);
    assert.deepEqual(idsOf(await list('?status=succeeded')), [music, picture]);
    assert.deepEqual(idsOf(await list('?status=failed')), [failed.id]);
    assert.deepEqual(idsOf(await list('?kind=audio')), [music]);
    assert.deepEqual(idsOf(await list('?status=succeeded&kind=image')), [picture]);
    const { model } = song;
    assert.deepEqual(idsOf(await list(`?model=${model}`)), [music]);
    for (const none of [
      '?status=canceled',
      '?status=running',
      '?kind=video',
      `?model=${model}&kind=image`,
      '?model=none',
    ])
      assert.deepEqual(idsOf(await list(none)), []);
  });

  test('R-231: what it is asked for is checked, at its bounds too', async () => {
    for (const query of ['?limit=1', '?limit=100']) assert.equal((await list(query)).status, 200, query);
    for (const query of ['?limit=0', '?limit=101', '?limit=x', '?status=done', '?kind=music', '?after=%00']) {
      refused(await list(query), 400, 'invalid_parameter', query);
    }
    const foreign = await made();
    for (const after of [foreign, 'job_unknown_0123456789', 'nothing']) {
      const answer = await list(`?after=${after}`, stranger);
      assert.deepEqual([answer.json.data, answer.json.has_more], [[], false], after);
    }
  });
});
