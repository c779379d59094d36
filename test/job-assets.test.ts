import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { sandbox } from './support/documents.ts';
import type { NewCaller } from './support/gateway.ts';
import { anotherKey } from './support/keeping.ts';
import { MUSIC, musicModel, VIDEOS, videoModel } from './support/media-models.ts';
import { clip, picture, toneAs } from './support/media-samples.ts';
import { paidCaller } from './support/paid-calls.ts';
import { IMAGES, Studio } from './support/studio.ts';

// The upstream calls every picture a PNG, every clip an MP4 and every sound an MP3, whatever they are.
const files = {
  image: await picture('jpeg', { width: 48, height: 32 }),
  video: await clip({ seconds: 4, width: 64, height: 48, container: 'webm' }),
  audio: await toneAs('wav', { seconds: 3 }),
};
const studio = new Studio({ readsUntilDone: 1, files, marker: 'upstream-marker' });
const MODELS = [
  videoModel('studio/clip', [{ upstream: 'queue', model: 'fal-ai/veo3.1' }]),
  videoModel('studio/filmed', [{ upstream: 'sandbox', model: 'clip' }]),
  musicModel('studio/song', [{ upstream: 'queue', model: 'fal-ai/elevenlabs/music' }]),
];
const LINK_SECONDS = 900;

before(() => studio.start());
after(() => studio.stop());

let caller: NewCaller;
beforeEach(async () => {
  const { upstreams, models } = studio.document({}, MODELS) as { upstreams: object[]; models: object[] };
  await studio.gateway.putConfig({ upstreams: [...upstreams, sandbox('sandbox')], models });
  caller = await paidCaller(studio.gateway);
});
afterEach(() => studio.gateway.assertBooksBalance());

const now = () => Math.floor(studio.gateway.clock.nowMs() / 1000);

async function made(path: string, body: object): Promise<string> {
  const { id } = await studio.create(caller, path, { ...body });
  assert.equal((await studio.ended(caller, id)).status, 'succeeded');
  return id;
}

const pictures = (n = 1) => made(IMAGES, { model: 'studio/queue', prompt: 'a gate', n });

/** Only what is the same at every read. */
function lasting({ url: _url, expires_at: _expires, ...rest }: Record<string, unknown>): unknown {
  return rest;
}

test('R-232, R-233, R-234, R-235, R-236: three pictures are three assets, the same ones at every read', async () => {
  const id = await pictures(3);
  const first = await studio.assets(caller, id);
  assert.deepEqual(
    first.map(({ ordinal, job_id, kind, storage }) => ({ ordinal, job_id, kind, storage })),
    [0, 1, 2].map((ordinal) => ({ ordinal, job_id: id, kind: 'image', storage: 'disk' })),
  );
  assert.equal(new Set(first.map((asset) => asset.id)).size, 3);
  for (const asset of first) assert.match(asset.id, /^ast_[A-Za-z0-9_-]{10,}$/);
  studio.gateway.clock.advance(60);
  const other = await anotherKey(studio.gateway, caller);
  assert.deepEqual((await studio.assets(other, id)).map(lasting), first.map(lasting));
});

for (const [what, path, body, bytes, told] of [
  [
    'a picture',
    IMAGES,
    { model: 'studio/queue', prompt: 'a gate' },
    files.image,
    { kind: 'image', mime_type: 'image/jpeg', width: 48, height: 32 },
  ],
  [
    'a clip',
    VIDEOS,
    { model: 'studio/clip', prompt: 'a gate opens', seconds: 4 },
    files.video,
    { kind: 'video', mime_type: 'video/webm', width: 64, height: 48, seconds: 4 },
  ],
  [
    'a piece of music',
    MUSIC,
    { model: 'studio/song', prompt: 'a march' },
    files.audio,
    { kind: 'audio', mime_type: 'audio/wav', seconds: 3 },
  ],
] as const) {
  test(`R-235, R-237, R-238, R-239, R-243: ${what} is told by its own bytes`, async () => {
    const id = await made(path, body);
    const assets = await studio.assets(caller, id);
    assert.equal(assets.length, 1);
    const [{ id: assetId, created_at, url, expires_at, ...rest }] = assets as [Record<string, unknown>];
    assert.deepEqual(rest, { job_id: id, ordinal: 0, storage: 'disk', bytes: bytes.length, ...told });
    assert.match(String(assetId), /^ast_/);
    assert.ok(Number.isInteger(created_at) && Number.isInteger(expires_at));
    assert.equal(created_at, (await studio.read(caller, id)).finished_at);
    const found = await studio.fetched(String(url));
    assert.deepEqual([found.status, found.headers['content-type']], [200, told.mime_type]);
    assert.ok(found.bytes.equals(bytes));
    assert.equal(found.headers['content-length'], String(bytes.length));
  });
}

test('R-403, R-406: two pieces of music are two assets', async () => {
  const id = await made(MUSIC, { model: 'studio/song', prompt: 'a march', n: 2 });
  assert.equal((await studio.read(caller, id)).kind, 'audio');
  const assets = await studio.assets(caller, id);
  assert.deepEqual(
    assets.map(({ ordinal, kind }) => [ordinal, kind]),
    [
      [0, 'audio'],
      [1, 'audio'],
    ],
  );
});

test('R-240, R-242: every read gives a new link for a quarter of an hour, and the old one still holds', async () => {
  const id = await pictures();
  const [first] = await studio.assets(caller, id);
  assert.equal(first.expires_at, now() + LINK_SECONDS);
  studio.gateway.clock.advance(1.5);
  const [second] = await studio.assets(caller, id);
  assert.notEqual(second.url, first.url);
  assert.equal(second.expires_at, now() + LINK_SECONDS);
  for (const { url } of [first, second]) assert.equal((await studio.fetched(url)).status, 200);
});

test('R-241: a link holds a second before its end and is refused a second after it', async () => {
  const [asset] = await studio.assets(caller, await pictures());
  studio.gateway.clock.advance(asset.expires_at - 1 - studio.gateway.clock.nowMs() / 1000);
  assert.equal((await studio.fetched(asset.url)).status, 200);
  studio.gateway.clock.advance(2);
  const late = await studio.fetched(asset.url);
  assert.deepEqual([late.status, JSON.parse(late.bytes.toString()).error.code], [403, 'invalid_link']);
});

test('R-244: a link needs no key, and says nothing of the key, the account, the job or the upstream', async () => {
  const id = await pictures();
  const [asset] = await studio.assets(caller, id);
  const { status, headers } = await studio.fetched(asset.url);
  assert.equal(status, 200);
  const said = decodeURIComponent(asset.url) + JSON.stringify(headers);
  const upstreams = ['fal', 'openai', 'flux', 'queue', 'upstream-marker', String(new URL(studio.queue.url).port)];
  for (const secret of [caller.key, caller.keyId, caller.accountId, id, ...upstreams]) {
    assert.equal(said.includes(secret), false, secret);
  }
});

test('R-245: a part of an asset can be fetched', async () => {
  const [asset] = await studio.assets(caller, await pictures());
  const size = asset.bytes;
  for (const [range, start, end] of [
    ['bytes=0-99', 0, 99],
    ['bytes=-50', size - 50, size - 1],
    ['bytes=100-', 100, size - 1],
  ] as const) {
    const part = await studio.fetched(asset.url, { range });
    assert.deepEqual([part.status, part.headers['content-range']], [206, `bytes ${start}-${end}/${size}`], range);
    assert.equal(part.headers['accept-ranges'], 'bytes');
    assert.ok(part.bytes.equals(files.image.subarray(start, end + 1)));
  }
  const beyond = await studio.fetched(asset.url, { range: `bytes=${size}-` });
  assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, `bytes */${size}`]);
});

test('R-247: a link for one asset opens no other, and no link of another time', async () => {
  const [one, other] = await studio.assets(caller, await pictures(2));
  const swapped = one.url.replace(new URL(one.url).pathname, new URL(other.url).pathname);
  const longer = one.url.replace(`expires=${one.expires_at}`, `expires=${one.expires_at + 1}`);
  for (const url of [swapped, longer, one.url.slice(0, -1)]) {
    assert.notEqual(url, one.url);
    assert.equal((await studio.fetched(url)).status, 403);
  }
});

test('R-248: what a link gives is shown and never run, under a safe name, and not kept beyond the link', async () => {
  const [asset] = await studio.assets(caller, await pictures());
  studio.gateway.clock.advance(400);
  const { headers } = await studio.fetched(asset.url);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['content-disposition'], 'inline; filename="image-0.jpg"');
  assert.equal(headers['content-security-policy'], "sandbox; default-src 'none'");
  const [, seconds] = /^private, max-age=(\d+)$/.exec(String(headers['cache-control'])) ?? [];
  assert.ok(Number(seconds) <= asset.expires_at - now());
});

test('R-249: the thumbnail of a clip comes behind it, with a number and a picture of its own', async () => {
  const id = await made(VIDEOS, { model: 'studio/filmed', prompt: 'a gate opens', seconds: 1 });
  const assets = await studio.assets(caller, id);
  assert.deepEqual(
    assets.map(({ ordinal, kind, mime_type }) => [ordinal, kind, mime_type]),
    [
      [0, 'video', 'video/mp4'],
      [1, 'thumbnail', 'image/jpeg'],
    ],
  );
  const [film, thumbnail] = assets;
  assert.ok(film.seconds > 0 && thumbnail.width > 0 && thumbnail.height > 0 && !('seconds' in thumbnail));
  for (const { url, bytes, mime_type } of assets) {
    const found = await studio.fetched(url);
    assert.deepEqual([found.status, found.bytes.length, found.headers['content-type']], [200, bytes, mime_type]);
  }
  const content = await studio.gateway.call('GET', `/v1/videos/${id}/content`, { key: caller.key });
  assert.equal((await studio.fetched(content.headers.location ?? '')).headers['content-type'], 'video/mp4');
});
