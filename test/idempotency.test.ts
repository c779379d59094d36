import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { apiKeyDigest, newApiKey } from '../src/accounts/api-key.ts';
import { smallPng } from '../src/vendors/fal/emulator/files.ts';
import { FetchTarget } from './support/fetch-target.ts';
import { form, type Part } from './support/forms.ts';
import type { Answer, NewCaller } from './support/gateway.ts';
import { anotherKey, crowd, rowsOf, tracesOf } from './support/keeping.ts';
import { MUSIC, musicModel, VIDEOS, videoModel } from './support/media-models.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { requestText, sendRaw } from './support/raw-http.ts';
import { IMAGE_PRICE, IMAGES, imageModel, Studio } from './support/studio.ts';

const EDITS = '/v1/images/edits';
const MODELS = [
  imageModel('studio/edit', [{ upstream: 'queue', model: 'fal-ai/flux-2/edit' }]),
  videoModel('studio/clip', [{ upstream: 'queue', model: 'fal-ai/veo3.1' }]),
  musicModel('studio/song', [{ upstream: 'queue', model: 'fal-ai/elevenlabs/music' }]),
];
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };

// Tasks never end by themselves, so that what is held stays held.
const studio = new Studio();
let media: FetchTarget;
/** What the media server waits for before it answers. */
let held: Promise<void> = Promise.resolve();
before(async () => {
  media = await FetchTarget.start((_request, response) => void held.then(() => response.end(smallPng())));
  await studio.start({ settings: { TOLLGATE_FETCH_ALLOW: '127.0.0.1' } });
});
after(async () => {
  await studio.stop();
  media[Symbol.dispose]();
});

let caller: NewCaller;
beforeEach(async () => {
  await studio.gateway.putConfig(studio.document({}, MODELS));
  caller = await paidCaller(studio.gateway);
});
afterEach(() => studio.gateway.assertBooksBalance());

const image = (more: object = {}) => ({ model: 'studio/queue', prompt: 'a gate', ...more });
const edit = (more: object = {}) => ({
  model: 'studio/edit',
  prompt: 'a gate',
  reference_images: [`http://127.0.0.1:${media.port}/gate.png`],
  ...more,
});
const EDIT_FORM: readonly Part[] = [
  { name: 'model', value: 'studio/edit' },
  { name: 'prompt', value: 'a gate' },
  { name: 'image', fileName: 'gate.png', bytes: smallPng(3) },
];

function post(key: string, body: object, path = IMAGES, by: NewCaller = caller): Promise<Answer> {
  return studio.gateway.call('POST', path, { key: by.key, body, headers: { 'idempotency-key': key } });
}

function postRaw(key: string, raw: string | Buffer, headers: Record<string, string>, path = IMAGES): Promise<Answer> {
  return studio.gateway.call('POST', path, { key: caller.key, raw, headers: { ...headers, 'idempotency-key': key } });
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function made(key: string, body: object = image(), path = IMAGES): Promise<string> {
  const answer = await post(key, body, path);
  assert.deepEqual([answer.status, answer.headers['idempotent-replayed']], [202, undefined], answer.text);
  return answer.json.id;
}

function isReplayOf(id: string, answer: Answer): void {
  assert.deepEqual(
    [answer.status, answer.json.id, answer.headers['idempotent-replayed']],
    [202, id, 'true'],
    answer.text,
  );
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json?.error?.code], [status, code], answer.text);
}

/** One job, and the credits of one. */
async function oneJobOnly(by: NewCaller = caller): Promise<void> {
  const { jobs, reservations } = await tracesOf(studio.gateway, by);
  assert.deepEqual({ jobs, reservations }, { jobs: 1, reservations: 1 });
  assert.equal((await moneyOf(studio.gateway, by)).reserved, IMAGE_PRICE);
}

describe('the same request again', () => {
  for (const [path, body] of [
    [IMAGES, image()],
    [EDITS, () => edit()],
    [VIDEOS, { model: 'studio/clip', prompt: 'a gate opens', seconds: 4 }],
    [MUSIC, { model: 'studio/song', prompt: 'a march' }],
  ] as const) {
    test(`R-250, R-251, R-259, R-513: ${path} makes one job and gives it again`, async () => {
      const sent = typeof body === 'function' ? body() : body;
      const first = await post('again', sent, path);
      assert.deepEqual(
        [first.status, first.json.status, first.headers['idempotent-replayed']],
        [202, 'queued', undefined],
      );
      const money = await moneyOf(studio.gateway, caller);
      isReplayOf(first.json.id, await post('again', sent, path));
      assert.deepEqual(await moneyOf(studio.gateway, caller), money);
      assert.equal((await tracesOf(studio.gateway, caller)).jobs, 1);
    });
  }

  test('R-251: a hundred copies at once are one job and one charge', async () => {
    const many = await crowd(studio.gateway, 10_000);
    const before = studio.queue.tasks.length;
    const answers = await Promise.all(Array.from({ length: 100 }, () => post('hundred', image(), IMAGES, many)));
    const ids = new Set(answers.map(({ json }) => json.id));
    assert.deepEqual([ids.size, new Set(answers.map(({ status }) => status))], [1, new Set([202])]);
    assert.equal(answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true').length, 99);
    await oneJobOnly(many);
    await studio.inState(many, [...ids][0], 'running');
    assert.equal(studio.queue.tasks.length, before + 1);
  });

  test('R-251, R-254: copies with a file to be stored are one job, or are told to wait for it', async () => {
    const many = await crowd(studio.gateway, 10_000);
    const { raw, headers } = form(EDIT_FORM);
    const send = () =>
      studio.gateway.call('POST', EDITS, { key: many.key, raw, headers: { ...headers, 'idempotency-key': 'files' } });
    const answers = await Promise.all(Array.from({ length: 30 }, send));
    const ids = new Set(answers.filter(({ status }) => status === 202).map(({ json }) => json.id));
    assert.equal(ids.size, 1);
    for (const answer of answers.filter(({ status }) => status !== 202)) refused(answer, 425, 'admission_in_progress');
    isReplayOf([...ids][0], await send());
    await oneJobOnly(many);
  });

  test('R-252: a restart and the end of the model change nothing', async () => {
    const id = await made('durable');
    const { database, clock } = studio.gateway;
    const other = await studio.another({ database, clock });
    try {
      const headers = { 'idempotency-key': 'durable' };
      isReplayOf(id, await other.call('POST', IMAGES, { key: caller.key, body: image(), headers }));
      await studio.gateway.putConfig({ upstreams: [], models: [] });
      refused(await post('fresh', image()), 404, 'model_not_found');
      isReplayOf(id, await post('durable', image()));
      await until(async () => (await other.call('GET', '/v1/models', { key: caller.key })).json.data.length === 0);
      isReplayOf(id, await other.call('POST', IMAGES, { key: caller.key, body: image(), headers }));
    } finally {
      await other.stop();
    }
    await oneJobOnly();
  });

  test('R-045: an empty balance changes nothing', async () => {
    const poor = await paidCaller(studio.gateway, IMAGE_PRICE);
    const { json } = await post('poor', image(), IMAGES, poor);
    refused(await post('second', image(), IMAGES, poor), 402, 'insufficient_credits');
    isReplayOf(json.id, await post('poor', image(), IMAGES, poor));
  });

  test('R-259: it is given as it is now', async () => {
    const id = await made('now');
    await studio.inState(caller, id, 'running');
    for (const task of studio.queue.tasks) task.advance('COMPLETED');
    const ended = await studio.ended(caller, id);
    const answer = await post('now', image());
    isReplayOf(id, answer);
    assert.deepEqual([answer.json, answer.json.status], [ended, 'succeeded']);
    assert.equal((await moneyOf(studio.gateway, caller)).spent, IMAGE_PRICE);
  });

  test('R-260: keys in another order and white space make no difference', async () => {
    const id = await made('order', image({ extra: { a: 1, b: { c: [1, 2], d: null } } }));
    const text = ` {"extra" : {"b":{"d":null,"c":[ 1,2 ]},"a":1},\\n"prompt":"a g\\u0061te", "model":"studio/queue"}`;
    isReplayOf(id, await postRaw('order', text.replace('\\n', '\n'), JSON_TYPE));
  });

  test('R-260: a form with another boundary and other names of its files is the same', async () => {
    const first = form(EDIT_FORM);
    const { status, json } = await postRaw('form', first.raw, first.headers, EDITS);
    assert.equal(status, 202);
    const renamed = EDIT_FORM.map((part) => ('bytes' in part ? { ...part, fileName: 'other.png' } : part));
    const second = form(renamed, 'quite-another');
    isReplayOf(json.id, await postRaw('form', second.raw, second.headers, EDITS));
    await oneJobOnly();
  });
});

describe('another request under the same key', () => {
  for (const [what, body] of [
    ['another prompt', image({ prompt: 'a wall' })],
    ['one field more', image({ n: 1 })],
    ['something unmodelled', image({ unknown: 1 })],
  ] as const) {
    test(`R-043, R-073, R-253: ${what} is a conflict, and the first job is untouched`, async () => {
      const id = await made('taken');
      const before = await studio.inState(caller, id, 'running');
      const answer = await post('taken', body);
      refused(answer, 409, 'idempotency_conflict');
      assert.equal(answer.headers['x-should-retry'], 'false');
      assert.deepEqual(await studio.read(caller, id), before);
      await oneJobOnly();
    });
  }

  test('R-260: numbers count as they are written', async () => {
    const { json } = await postRaw('number', '{"model":"studio/queue","prompt":"a gate","seed":1}', JSON_TYPE);
    for (const seed of ['1.0', '1e0', '2', '"1"']) {
      const answer = await postRaw('number', `{"model":"studio/queue","prompt":"a gate","seed":${seed}}`, JSON_TYPE);
      assert.ok(answer.status === 409 || answer.json.error.code === 'invalid_parameter', answer.text);
    }
    const exact = await postRaw('number', '{"model":"studio/queue","prompt":"a gate","seed":1.0}', JSON_TYPE);
    refused(exact, 409, 'idempotency_conflict');
    isReplayOf(json.id, await postRaw('number', '{"seed":1,"model":"studio/queue","prompt":"a gate"}', JSON_TYPE));
  });

  test('R-260: a form with other bytes, or in another order, is another', async () => {
    const first = form(EDIT_FORM);
    assert.equal((await postRaw('bytes', first.raw, first.headers, EDITS)).status, 202);
    const changed = EDIT_FORM.map((part) => ('bytes' in part ? { ...part, bytes: smallPng(4) } : part));
    for (const other of [changed, EDIT_FORM.toReversed()]) {
      const { raw, headers } = form(other);
      refused(await postRaw('bytes', raw, headers, EDITS), 409, 'idempotency_conflict');
    }
    await oneJobOnly();
  });

  test('R-261: the same body on another route is another request', async () => {
    await made('route', edit(), EDITS);
    refused(await post('route', edit({ model: 'studio/queue' }), IMAGES), 409, 'idempotency_conflict');
    const body = { model: 'studio/clip', prompt: 'a gate opens' };
    await made('other', body, VIDEOS);
    refused(await post('other', { ...body, model: 'studio/song' }, MUSIC), 409, 'idempotency_conflict');
  });
});

describe('the key', () => {
  test('R-255: without one every call makes a new job', async () => {
    const jobs = await Promise.all([1, 2, 3].map(() => studio.create(caller, IMAGES, image())));
    assert.equal(new Set(jobs.map(({ id }) => id)).size, 3);
    assert.equal((await tracesOf(studio.gateway, caller)).keys, 0);
  });

  test('R-256: it belongs to one credential of one account', async () => {
    const id = await made('mine');
    const [sibling, stranger] = [await anotherKey(studio.gateway, caller), await paidCaller(studio.gateway)];
    const ids = [id];
    for (const by of [sibling, stranger]) {
      const answer = await post('mine', image({ prompt: 'a wall' }), IMAGES, by);
      assert.deepEqual([answer.status, answer.headers['idempotent-replayed']], [202, undefined]);
      ids.push(answer.json.id);
    }
    assert.equal(new Set(ids).size, 3);
    isReplayOf(id, await post('mine', image()));
  });

  test('R-257, R-258, R-508: it has 512 bytes at most', async () => {
    const id = await made('k'.repeat(512));
    isReplayOf(id, await post('k'.repeat(512), image()));
    const before = await tracesOf(studio.gateway, caller);
    refused(await post('k'.repeat(513), image()), 400, 'invalid_idempotency_key');
    const { raw, headers } = form(EDIT_FORM);
    refused(await postRaw('k'.repeat(513), raw, headers, EDITS), 400, 'invalid_idempotency_key');
    assert.deepEqual(await tracesOf(studio.gateway, caller), before);
  });

  test('R-258: it is printable ASCII, all of which it may have', async () => {
    const printable = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).join('');
    isReplayOf(await made(`a ${printable}`), await post(`a ${printable}`, image()));
    const before = await tracesOf(studio.gateway, caller);
    for (const odd of ['caf\u00e9', 'ключ', 'tab\there', '\u00a0']) {
      const lines = [`Authorization: Bearer ${caller.key}`, `Idempotency-Key: x${odd}`];
      const answer = await sendRaw(
        studio.gateway.url,
        Buffer.from(requestText(`POST ${IMAGES}`, lines, JSON.stringify(image()))),
      );
      refused(answer, 400, 'invalid_idempotency_key');
    }
    assert.deepEqual(await tracesOf(studio.gateway, caller), before);
  });

  test('R-258: an empty one is none', async () => {
    const [first, second] = [await post('', image()), await post('', image())];
    assert.deepEqual([first.status, second.status], [202, 202]);
    assert.notEqual(first.json.id, second.json.id);
    assert.equal((await tracesOf(studio.gateway, caller)).keys, 0);
  });

  test('R-265: it belongs to the credential, whose secret may be renewed', async () => {
    const first = await post('renewed', image());
    const key = newApiKey();
    const renewal = 'update api_keys set digest = $1 where id = $2';
    await rowsOf(studio.gateway, renewal, [apiKeyDigest(key), caller.keyId]);
    const again = await post('renewed', image(), IMAGES, { ...caller, key });
    assert.deepEqual([again.status, again.json.id], [202, first.json.id]);
    assert.equal(again.headers['idempotent-replayed'], 'true');
  });

  test('R-266: it means nothing where no job is made', async () => {
    const { raw, headers } = form([{ name: 'file', fileName: 'gate.png', bytes: smallPng() }]);
    const ids = [];
    for (let time = 0; time < 2; time++) ids.push((await postRaw('k'.repeat(513), raw, headers, '/v1/files')).json.id);
    assert.equal(new Set(ids).size, 2);
    const list = { key: caller.key, headers: { 'idempotency-key': 'k'.repeat(513) } };
    assert.equal((await studio.gateway.call('GET', '/v1/jobs', list)).status, 200);
    assert.equal((await tracesOf(studio.gateway, caller)).keys, 0);
  });
});

describe('a first request that comes to nothing', () => {
  const poor = image({ n: 10, prompt: 'x' });
  for (const [status, code, send] of [
    [400, 'missing_prompt', () => post('retry', { model: 'studio/queue' })],
    [400, 'unsupported_parameter', () => post('retry', image({ resolution: '9k' }))],
    [404, 'model_not_found', () => post('retry', image({ model: 'no/such' }))],
    [413, 'body_too_large', () => post('retry', image({ prompt: 'x'.repeat(10 * 1024 * 1024) }))],
    [402, 'insufficient_credits', () => post('retry', poor)],
    [400, 'invalid_input_url', () => post('retry', edit({ reference_images: [studio.queue.files.url] }), EDITS)],
  ] as const) {
    test(`R-262, R-287, R-505: ${status} ${code} leaves the key free for a better one`, async () => {
      caller = await paidCaller(studio.gateway, 2 * IMAGE_PRICE);
      const before = studio.queue.tasks.length;
      refused(await send(), status, code);
      assert.equal(studio.queue.tasks.length, before);
      assert.deepEqual(await tracesOf(studio.gateway, caller), { jobs: 0, reservations: 0, keys: 0, files: 0 });
      await made('retry');
      await oneJobOnly();
    });
  }

  test('R-262: and so does one that was too many', async () => {
    const usual = await anotherKey(studio.gateway, caller, { rpm: 1 });
    await post('other', { model: 'studio/queue' }, IMAGES, usual);
    refused(await post('limited', image(), IMAGES, usual), 429, 'rate_limited');
    studio.gateway.clock.advance(60);
    assert.equal((await post('limited', image({ prompt: 'a wall' }), IMAGES, usual)).status, 202);
  });
});

describe('while the first request is being prepared', () => {
  /** A request whose media do not come until it is let go. */
  async function preparing(key: string, body = edit()): Promise<{ first: Promise<Answer>; release: () => void }> {
    const hold = Promise.withResolvers<void>();
    const before = media.requests.length;
    held = hold.promise;
    const first = post(key, body, EDITS);
    await until(() => media.requests.length > before);
    return { first, release: hold.resolve };
  }

  test('R-043, R-074, R-254: the same one is told to come back, and then finds the job', async () => {
    const { first, release } = await preparing('early');
    const second = await post('early', edit(), EDITS);
    refused(second, 425, 'admission_in_progress');
    assert.deepEqual([second.headers['retry-after'], second.headers['x-should-retry']], ['1', 'true']);
    assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
    release();
    const { status, json } = await first;
    assert.equal(status, 202);
    isReplayOf(json.id, await post('early', edit(), EDITS));
    await oneJobOnly();
  });

  test('R-254, R-262: if the first comes to nothing the next one is the first', async () => {
    const bad = edit({
      reference_images: [`http://127.0.0.1:${media.port}/gate.png`, `${studio.queue.files.url}/none`],
    });
    const { first, release } = await preparing('fails', bad);
    refused(await post('fails', edit(), EDITS), 425, 'admission_in_progress');
    release();
    refused(await first, 400, 'invalid_input_url');
    assert.equal((await tracesOf(studio.gateway, caller)).keys, 0);
    await made('fails', edit(), EDITS);
  });

  test('R-263: one that never ends holds its key for a minute and no longer', async () => {
    const { first, release } = await preparing('stuck');
    studio.gateway.clock.advance(59);
    refused(await post('stuck', edit(), EDITS), 425, 'admission_in_progress');
    studio.gateway.clock.advance(1);
    held = Promise.resolve();
    const id = await made('stuck', edit(), EDITS);
    release();
    // The one that was given up finds the job of the one that took its place.
    isReplayOf(id, await first);
    await oneJobOnly();
  });
});
