import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { smallPng } from '../src/vendors/fal/emulator/files.ts';
import { form, headOf, type Part, typeOf } from './support/forms.ts';
import type { Answer, NewCaller } from './support/gateway.ts';
import { storedFiles, sweep, tracesOf } from './support/keeping.ts';
import { VIDEOS, videoModel } from './support/media-models.ts';
import { clip, picture, toneAs } from './support/media-samples.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { RawConnection } from './support/raw-http.ts';
import { Studio } from './support/studio.ts';

const FILES = '/v1/files';
const MIB = 1024 * 1024;
const DAY = 24 * 3600;
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };

const studio = new Studio();
const MODELS = [
  videoModel(
    'studio/by-clips',
    [{ upstream: 'queue', model: 'bytedance/seedance-2.0/reference-to-video' }],
    ['reference_videos', 'reference_audios', 'reference_images'],
  ),
  videoModel(
    'studio/changed',
    [{ upstream: 'queue', model: 'fal-ai/kling-video/o1/video-to-video/edit' }],
    ['ref_video'],
  ),
];
const film = await clip({ seconds: 1 });
const sound = await toneAs('mp3', { seconds: 1 });
const SAMPLES = [
  ['png', await picture('png', { width: 4, height: 4 }), 'image/png'],
  ['jpeg', await picture('jpeg', { width: 4, height: 4 }), 'image/jpeg'],
  ['webp', await picture('webp', { width: 4, height: 4 }), 'image/webp'],
  ['mp3', sound, 'audio/mpeg'],
  ['wav', await toneAs('wav', { seconds: 0.1 }), 'audio/wav'],
  ['flac', await toneAs('flac', { seconds: 0.1 }), 'audio/flac'],
  ['ogg', await toneAs('ogg-opus', { seconds: 0.1 }), 'audio/ogg'],
  ['m4a', await toneAs('m4a', { seconds: 0.1 }), 'audio/mp4'],
  ['webm sound', await toneAs('webm', { seconds: 0.1 }), 'audio/webm'],
  ['mp4', film, 'video/mp4'],
  ['mov', await clip({ seconds: 0.2, container: 'mov' }), 'video/quicktime'],
  ['webm', await clip({ seconds: 0.2, container: 'webm' }), 'video/webm'],
] as const;

before(async () => {
  await studio.start();
  await studio.gateway.putConfig(studio.document({}, MODELS));
});
after(() => studio.stop());

let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(studio.gateway);
});
afterEach(() => studio.gateway.assertBooksBalance());

function post(parts: readonly Part[], by: NewCaller = caller): Promise<Answer> {
  return studio.gateway.call('POST', FILES, { key: by.key, ...form(parts) });
}

function upload(bytes: Buffer, fileName = 'file.bin', by: NewCaller = caller): Promise<Answer> {
  return post([{ name: 'file', fileName, bytes }], by);
}

async function kept(bytes: Buffer, by: NewCaller = caller): Promise<Answer['json']> {
  const answer = await upload(bytes, 'file.bin', by);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

function refused(answer: Answer, status: number, code: string, what?: string): void {
  assert.deepEqual([answer.status, answer.json?.error?.code], [status, code], what ?? answer.text);
}

describe('a file that is kept', () => {
  test('R-487, R-491: it is told with its link, and costs nothing', async () => {
    const now = Math.floor(studio.gateway.clock.nowMs() / 1000);
    const answer = await post([
      { name: 'purpose', value: 'reference' },
      { name: 'file', fileName: 'gate.png', bytes: smallPng(3) },
    ]);
    const { id, url, ...rest } = answer.json;
    assert.match(id, /^file_[A-Za-z0-9_-]{10,}$/);
    assert.deepEqual(rest, {
      object: 'file',
      bytes: smallPng(3).length,
      filename: 'gate.png',
      mime_type: 'image/png',
      purpose: 'reference',
      created_at: now,
      expires_at: now + DAY,
    });
    assert.equal(answer.headers['cache-control'], 'private, no-store');
    assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
    for (const secret of [caller.key, caller.accountId, 'gate']) assert.equal(url.includes(secret), false, secret);
  });

  test('R-488: its link needs no key, gives parts too, and holds for a day', async () => {
    const file = await kept(film);
    const whole = await studio.fetched(file.url);
    assert.deepEqual([whole.status, whole.headers['content-type']], [200, 'video/mp4']);
    assert.ok(whole.bytes.equals(film));
    const part = await studio.fetched(file.url, { range: 'bytes=10-19' });
    assert.deepEqual([part.status, part.headers['content-range']], [206, `bytes 10-19/${film.length}`]);
    studio.gateway.clock.advance(file.expires_at - 1 - studio.gateway.clock.nowMs() / 1000);
    await sweep(studio);
    assert.equal((await studio.fetched(file.url)).status, 200);
    const name = new URL(file.url).pathname.split('/').at(-1) ?? '';
    assert.ok(storedFiles(studio.gateway).some((path) => path.endsWith(name)));
    studio.gateway.clock.advance(2);
    assert.equal((await studio.fetched(file.url)).status, 403);
    await sweep(studio);
    assert.equal(
      storedFiles(studio.gateway).some((path) => path.endsWith(name)),
      false,
    );
    assert.equal((await tracesOf(studio.gateway, caller)).files, 0);
  });

  for (const [what, bytes, mimeType] of SAMPLES) {
    test(`R-486: ${what} is known by its bytes, whatever it is called`, async () => {
      const answer = await upload(bytes, 'page.html');
      assert.deepEqual(
        [answer.status, answer.json.mime_type, answer.json.bytes],
        [200, mimeType, bytes.length],
        answer.text,
      );
      assert.equal((await studio.fetched(answer.json.url)).headers['content-type'], mimeType);
    });
  }

  for (const [given, safe] of [
    ['gate.png', 'gate.png'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\\\pictures\\\\gate.png', 'gate.png'],
    ['Grüße aus Köln.png', 'Grüße aus Köln.png'],
    ['a;b:c|d?.png', 'a_b_c_d_.png'],
    ['....', 'file'],
    ['.hidden', 'hidden'],
    [`${'x'.repeat(255)}`, 'x'.repeat(255)],
    [`${'x'.repeat(256)}`, 'x'.repeat(255)],
    [`${'é'.repeat(128)}`, 'é'.repeat(127)],
  ] as const) {
    test(`R-490: the name ${given.slice(0, 30)} of ${given.length} characters is made safe`, async () => {
      const answer = await upload(smallPng(), given);
      assert.deepEqual([answer.status, answer.json.filename], [200, safe], answer.text);
      assert.equal((await studio.fetched(answer.json.url)).status, 200);
    });
  }
});

describe('a file that is refused', () => {
  const png = { name: 'file', fileName: 'gate.png', bytes: smallPng() };

  for (const [what, bytes] of [
    ['a text', Buffer.from('a gate')],
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['a drawing with a script', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['a GIF', Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64')],
    ['an archive', Buffer.from('504b0304140000000800', 'hex')],
    ['a picture cut off', smallPng(40).subarray(0, 20)],
  ] as const) {
    test(`R-486: ${what} is of no kind that is kept`, async () => {
      refused(await upload(bytes), 400, 'unsupported_file_format');
      assert.equal((await tracesOf(studio.gateway, caller)).files, 0);
    });
  }

  for (const [what, code, parts] of [
    ['no part at all', 'missing_file', []],
    ['a value in its place', 'missing_file', [{ name: 'file', value: 'gate' }]],
    ['nothing in it', 'empty_file', [{ ...png, bytes: Buffer.alloc(0) }]],
    ['another name', 'unexpected_file', [{ ...png, name: 'image' }]],
    ['a second one', 'unexpected_file', [png, png]],
    ['a purpose that cannot be kept', 'invalid_parameter', [png, { name: 'purpose', value: 'a\0b' }]],
  ] as const) {
    test(`R-486, R-491: ${what} is ${code}, and leaves nothing`, async () => {
      refused(await post(parts), 400, code);
      assert.equal((await tracesOf(studio.gateway, caller)).files, 0);
    });
  }

  test('R-491: what is no form is told so, and what is a broken one too', async () => {
    const send = (raw: Buffer | string, headers: Record<string, string>) =>
      studio.gateway.call('POST', FILES, { key: caller.key, raw, headers });
    const { raw, headers } = form([png]);
    for (const type of ['application/json', 'image/png', 'application/x-www-form-urlencoded']) {
      refused(await send(raw, { 'content-type': type }), 400, 'unsupported_content_type', type);
    }
    refused(await send(raw, { 'content-type': 'multipart/form-data' }), 400, 'invalid_multipart');
    refused(await send(raw, typeOf('another')), 400, 'invalid_multipart');
    refused(await send(raw.subarray(0, -10), headers), 400, 'invalid_multipart');
    refused(await send(raw.subarray(0, 120), headers), 400, 'invalid_multipart');
    refused(await send(Buffer.alloc(0), headers), 400, 'invalid_multipart');
    const nameless = Buffer.from(raw.toString('latin1').replace('; name="file"', ''), 'latin1');
    assert.notEqual(nameless.length, raw.length);
    refused(await send(nameless, headers), 400, 'invalid_multipart');
    assert.equal((await tracesOf(studio.gateway, caller)).files, 0);
  });

  test('what is refused lets go of what it was storing', async () => {
    const { raw, headers } = form([
      { ...png, bytes: Buffer.concat([smallPng(), Buffer.alloc(MIB)]) },
      { ...png, name: 'other' },
    ]);
    refused(await studio.gateway.call('POST', FILES, { key: caller.key, raw, headers }), 400, 'unexpected_file');
    await until(() => storedFiles(studio.gateway).every((path) => !path.includes('unfinished')));
  });

  test('whoever leaves in the middle of it leaves nothing', async () => {
    const connection = await RawConnection.open(studio.gateway.url);
    const type = typeOf('cut')['content-type'];
    const lines = ['Host: gateway.test', `Authorization: Bearer ${caller.key}`, `Content-Type: ${type}`];
    await connection.send([`POST ${FILES} HTTP/1.1`, ...lines, `Content-Length: ${4 * MIB}`, '', ''].join('\r\n'));
    await connection.send(Buffer.concat([headOf(png, 'cut'), await toneAs('wav', { seconds: 3 })]));
    const unfinished = () => storedFiles(studio.gateway).filter((path) => path.includes('unfinished'));
    await until(() => unfinished().length === 1);
    connection.reset();
    await until(() => unfinished().length === 0);
    assert.equal((await tracesOf(studio.gateway, caller)).files, 0);
  });

  test('the connection serves the next request', async () => {
    using connection = await RawConnection.open(studio.gateway.url);
    const { raw, headers } = form([{ ...png, bytes: Buffer.alloc(3 * MIB, 'text ') }]);
    const lines = ['Host: gateway.test', `Authorization: Bearer ${caller.key}`];
    const type = `Content-Type: ${headers['content-type']}`;
    const head = [`POST ${FILES} HTTP/1.1`, ...lines, type, `Content-Length: ${raw.length}`, '', ''].join('\r\n');
    await connection.send(head);
    await connection.send(raw);
    refused(await connection.answer(), 400, 'unsupported_file_format');
    await connection.send(['GET /v1/jobs HTTP/1.1', ...lines, '', ''].join('\r\n'));
    assert.equal((await connection.answer()).status, 200);
  });
});

describe('a file in a request', () => {
  const asked = (more: object) => ({ model: 'studio/by-clips', prompt: 'a gate opens', seconds: 5, ...more });
  const create = (body: object, by: NewCaller = caller) => studio.gateway.call('POST', VIDEOS, { key: by.key, body });
  const asData = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`;

  /** What the upstream was sent for this job. */
  async function sent(body: object): Promise<Record<string, unknown>> {
    const before = studio.queue.tasks.length;
    const answer = await create(body);
    assert.equal(answer.status, 202, answer.text);
    await until(() => studio.queue.tasks.length > before);
    return studio.queue.tasks[before]?.input ?? {};
  }

  test('R-485, R-489: its owner names it by its link, which nobody has to fetch', async () => {
    const [moving, heard] = [await kept(film), await kept(sound)];
    const input = await sent(asked({ reference_videos: [moving.url], reference_audios: [heard.url] }));
    assert.deepEqual(input.video_urls, [asData('video/mp4', film)]);
    assert.deepEqual(input.audio_urls, [asData('audio/mpeg', sound)]);
    const changed = await sent({ model: 'studio/changed', prompt: 'a gate', ref_video_url: moving.url });
    assert.equal(changed.video_url, asData('video/mp4', film));
    // It is the caller’s, and is there for the next request too.
    assert.equal((await studio.fetched(moving.url)).status, 200);
  });

  test('R-489: to anybody else it is nothing', async () => {
    const { url } = await kept(film);
    const stranger = await paidCaller(studio.gateway);
    for (const body of [
      asked({ reference_videos: [url] }),
      { model: 'studio/changed', prompt: 'a gate', ref_video_url: url },
    ]) {
      refused(await create(body, stranger), 400, 'invalid_input_url');
    }
    assert.deepEqual(await moneyOf(studio.gateway, stranger), UNTOUCHED);
    assert.deepEqual(await tracesOf(studio.gateway, stranger), { jobs: 0, reservations: 0, keys: 0, files: 0 });
  });

  test('R-489: a link that is changed or over is like any other address on this machine', async () => {
    const { url } = await kept(film);
    refused(await create(asked({ reference_videos: [`${url.slice(0, -1)}_`] })), 400, 'invalid_media_url');
    studio.gateway.clock.advance(DAY);
    refused(await create(asked({ reference_videos: [url] })), 400, 'invalid_media_url');
    assert.deepEqual(await moneyOf(studio.gateway, caller), UNTOUCHED);
  });

  test('R-489: it is what it is and cannot be named as something else', async () => {
    const [still, heard] = [await kept(smallPng()), await kept(sound)];
    for (const body of [
      asked({ reference_videos: [still.url] }),
      asked({ reference_audios: [still.url] }),
      asked({ reference_videos: [heard.url] }),
    ]) {
      refused(await create(body), 400, 'invalid_input_url');
    }
    const input = await sent(asked({ reference_image_urls: [still.url] }));
    assert.deepEqual(input.image_urls, [asData('image/png', smallPng())]);
  });
});
