import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { dataUrl, GIF, pngOf } from './support/asked-forms.ts';
import { FetchTarget, giving } from './support/fetch-target.ts';
import type { NewCaller } from './support/gateway.ts';
import { clip, toneAs } from './support/media-samples.ts';
import {
  EDITS,
  MediaStudio,
  MUSIC,
  musicModel,
  openImage,
  toldBy,
  VIDEOS,
  videoModel,
} from './support/media-studio.ts';
import { moneyOf } from './support/paid-calls.ts';
import { LOOPBACK_URLS, REFUSED_URLS } from './support/refused-addresses.ts';
import { IMAGES } from './support/studio.ts';

const AT_ONCE = 32;
const MIB = 1024 * 1024;
const PNG = pngOf();
const CLIP = await clip({ seconds: 1 });
const SOUND = await toneAs('mp3', { seconds: 1 });
const SLOTS = [
  'input_reference',
  'reference_images',
  'first_frame',
  'last_frame',
  'reference_videos',
  'reference_audios',
];
const open = [{ upstream: 'open-queue', model: 'any/maker' }];

/** A server of this machine that nobody may visit, and one that is allowed and misbehaves on demand. */
const forbidden = await FetchTarget.start(giving(PNG), { host: '0.0.0.0' });
const allowed = await FetchTarget.start((request, response) => misbehave(request, response));
const log: string[] = [];
const studio = new MediaStudio({
  delivered: { video: CLIP, audio: SOUND },
  allow: [`127.0.0.1:${allowed.port}`],
  models: [
    openImage('any/image'),
    videoModel('any/video', open, { slots: [...SLOTS, 'ref_video'] }),
    musicModel('any/music', open),
  ],
});
before(() => studio.start({ log: pino({ level: 'info' }, { write: (line: string) => void log.push(line) }) }));
after(async () => {
  await studio.stop();
  forbidden[Symbol.dispose]();
  allowed[Symbol.dispose]();
});

let caller: NewCaller;
beforeEach(async () => {
  caller = await studio.gateway.newCaller({ key: { rpm: 1_000_000, concurrency: 2 * AT_ONCE } });
  await studio.gateway.admin('POST', `/accounts/${caller.accountId}/grants`, { credits: 1000 });
});
afterEach(() => studio.gateway.assertBooksBalance());

function misbehave(request: IncomingMessage, response: ServerResponse): void {
  const [, what = '', of = ''] = (request.url ?? '').split('/');
  const count = Number(of);
  if (what === 'hop') {
    const next = count === 0 ? '/picture' : `/hop/${count - 1}`;
    response.writeHead(302, { location: next }).end();
  } else if (what === 'to') response.writeHead(307, { location: decodeURIComponent(of) }).end();
  else if (what === 'status') response.writeHead(count).end(PNG);
  else if (what === 'picture') response.end(PNG);
  else if (what === 'bytes') response.end(pngOf({ bytes: count }));
  else if (what === 'gzip')
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(pngOf({ bytes: count }), { level: 1 }));
  else if (what === 'text') response.writeHead(200, { 'content-type': 'image/png' }).end('no picture at all');
  else if (what === 'nothing') response.end();
  else if (what === 'half')
    response.writeHead(200, { 'content-length': PNG.length }).write(PNG.subarray(0, 20), () => response.destroy());
  else response.destroy();
}

interface Field {
  readonly name: string;
  readonly path: string;
  readonly body: (url: string) => object;
  /** Passed on and not fetched. */
  readonly isExtra?: boolean;
}

const field = (name: string, path: string, body: Field['body'], isExtra = false): Field => ({
  name,
  path,
  body,
  isExtra,
});
const FIELDS: readonly Field[] = [
  field('reference_images', IMAGES, (url) => ({ reference_images: [url] })),
  field('{url} in reference_images', IMAGES, (url) => ({ reference_images: [{ url }] })),
  field('images', IMAGES, (url) => ({ images: [url] })),
  field('mask', IMAGES, (url) => ({ mask: url })),
  field('{url} in mask', IMAGES, (url) => ({ mask: { url } })),
  field('reference_images', EDITS, (url) => ({ reference_images: [url] })),
  field('mask', EDITS, (url) => ({ images: [url], mask: url })),
  field('extra of an image', IMAGES, (url) => ({ control: { layers: [{ url }] } }), true),
  field('metadata of an image', IMAGES, (url) => ({ metadata: { logo: url } }), true),
  ...['input_reference', 'first_frame', 'image', 'image_url', 'last_frame', 'ref_video_url', 'video_url'].map((name) =>
    field(name, VIDEOS, (url) => ({ [name]: url })),
  ),
  field('{url} in first_frame', VIDEOS, (url) => ({ first_frame: { url } })),
  ...['reference_image_urls', 'reference_videos', 'reference_audios'].map((name) =>
    field(name, VIDEOS, (url) => ({ [name]: [url] })),
  ),
  field('extra of a video', VIDEOS, (url) => ({ extra: { control: [url] } }), true),
  field('the top level of a video', VIDEOS, (url) => ({ control: url }), true),
  field('reference_audio', MUSIC, (url) => ({ reference_audio: [url] })),
  field('extra of a piece of music', MUSIC, (url) => ({ plan: { sections: [url] } }), true),
];
/** This machine, in each of its notations, where somebody would answer. */
const OPEN_PORTS = LOOPBACK_URLS.filter((url) => url.startsWith('http://')).map((text) => {
  const url = new URL(text);
  url.port = String(forbidden.port);
  return { url: url.href, code: 'invalid_media_url' };
});

const MODELS: Readonly<Record<string, string>> = {
  [IMAGES]: 'any/image',
  [EDITS]: 'any/image',
  [VIDEOS]: 'any/video',
  [MUSIC]: 'any/music',
};

function sent({ path, body }: Field, url: string) {
  return studio.sent(caller, path, { body: { model: MODELS[path], prompt: 'a gate', ...body(url) } });
}

/** In a block that is passed on, only what begins like a URL is taken for one, and only a real one is judged as one. */
function codeIn({ isExtra }: Field, url: string, code: string): string | undefined {
  if (isExtra !== true) return code;
  if (!/^\s*([a-z][a-z0-9+.-]*:\/\/|https?:[/\\])/i.test(url)) return undefined;
  return URL.canParse(url) && /^https?:/i.test(url.trim()) ? 'invalid_media_url' : 'url_in_extra';
}

/** Every URL in this field, many at once. */
async function assertRefused(place: Field, rows: readonly { url: string; code: string }[]): Promise<void> {
  const due = rows
    .map(({ url, code }) => ({ url, code: codeIn(place, url, code) }))
    .filter(({ code }) => code !== undefined);
  assert.ok(due.length > rows.length / 2);
  await studio.unmoved(caller, async () => {
    for (let at = 0; at < due.length; at += AT_ONCE) {
      const batch = due.slice(at, at + AT_ONCE);
      const answers = await Promise.all(batch.map(({ url }) => sent(place, url)));
      for (const [place, answer] of answers.entries()) {
        const { url, code } = batch[place] ?? assert.fail();
        assert.equal(toldBy(answer), `400 ${code}`, `${url}: ${answer.text}`);
      }
    }
  });
  assert.equal(forbidden.connections, 0);
}

describe('addresses that nobody may be sent to', () => {
  for (const place of FIELDS) {
    test(`R-284, R-285, R-287, R-288, R-291, R-294, R-371: every refused notation is refused in ${place.name} of ${place.path}, with an open port too`, () =>
      assertRefused(place, [...REFUSED_URLS, ...OPEN_PORTS]));
  }

  test('R-291: ports for something else are refused, and their neighbours not', async () => {
    const place = field('extra', IMAGES, (url) => ({ control: url }), true);
    const of = (port: number) => `http://example.com:${port}/a`;
    const wrong = [1, 79, 81, 442, 444, 1023].map((port) => ({ url: of(port), code: 'invalid_media_url' }));
    await assertRefused(place, wrong);
    for (const port of [80, 443, 1024, 65_535]) {
      const { status, json, text } = await sent(place, of(port));
      assert.equal(status, 202, text);
      await studio.ended(caller, json.id);
    }
  });

  test('R-291, R-321: what names different hosts to different readers is refused wherever it would be passed on', async () => {
    const at = `127.0.0.2:${forbidden.port}`;
    const urls = ['\\@', '@', ':80@', '\\.', '\t@'].map((between) => `http://example.com${between}${at}/`);
    const rows = [
      ...urls,
      'http:/example.com/',
      'http:///example.com/',
      'http:\\\\example.com',
      'http://examp%6ce.com/',
    ];
    for (const place of FIELDS.filter(({ isExtra }) => isExtra === true)) {
      await assertRefused(
        place,
        rows.map((url) => ({ url, code: 'invalid_media_url' })),
      );
    }
  });

  test('R-296: a refusal is the same to the letter whether or not anything listens there', async () => {
    const closed = await FetchTarget.start(giving(PNG));
    const { port } = closed;
    closed[Symbol.dispose]();
    for (const place of FIELDS) {
      const texts = await Promise.all([forbidden.port, port].map((at) => sent(place, `http://127.0.0.1:${at}/secret`)));
      assert.equal(texts[0]?.text, texts[1]?.text);
    }
    assert.equal(forbidden.connections, 0);
  });
});

describe('addresses that may be fetched, and what comes of it', () => {
  const at = (path: string) => allowed.at('127.0.0.1', path);
  const PICTURE = field('images', IMAGES, (url) => ({ images: [url] }));
  const FETCHED = FIELDS.filter(({ isExtra, name }) => isExtra !== true && /image|frame|mask|input/.test(name));

  test('R-286, R-292: five redirects are followed, a sixth is not', async () => {
    const { status, json } = await sent(PICTURE, at('/hop/4'));
    assert.equal(status, 202);
    await studio.ended(caller, json.id);
    await assertRefused(PICTURE, [{ url: at('/hop/5'), code: 'invalid_input_url' }]);
  });

  test('R-286, R-287: a redirect to where nobody may be sent is refused in every field, and its target hears nothing', async () => {
    const targets = [
      [`http://127.0.0.1:${forbidden.port}/`, 'invalid_media_url'],
      [`http://0x7f.1:${forbidden.port}/`, 'invalid_media_url'],
      [`http://[::ffff:127.0.0.1]:${forbidden.port}/`, 'invalid_media_url'],
      ['http://169.254.169.254/', 'invalid_media_url'],
      ['http://user@example.com/', 'invalid_media_url'],
      ['file:///etc/passwd', 'unsupported_media_url_scheme'],
      [dataUrl(PNG), 'unsupported_media_url_scheme'],
    ] as const;
    const rows = targets.map(([url, code]) => ({ url: at(`/to/${encodeURIComponent(url)}`), code }));
    for (const place of FIELDS.filter(({ isExtra }) => isExtra !== true)) await assertRefused(place, rows);
  });

  test('R-287, R-292, R-294: what cannot be fetched, or is not what the field is for, is told alike in every field', async () => {
    const paths = ['/status/404', '/status/500', '/status/204', '/status/206', '/text', '/nothing', '/half', '/reset'];
    const urls = [...paths.map(at), 'http://no-such-host.invalid/a.png'];
    const rows = urls.map((url) => ({ url, code: 'invalid_input_url' }));
    for (const place of FIELDS.filter(({ isExtra }) => isExtra !== true)) await assertRefused(place, rows);
  });

  test('R-294: a clip is no picture, and a picture no clip', async () => {
    const [video, sound] = [CLIP, SOUND].map((bytes, at) => studio.queue.files.add(`kind-${at}`, bytes, 'image/png'));
    const picture = at('/picture');
    const rows: (readonly [string, string | undefined])[] = [
      ['first_frame', video],
      ['first_frame', sound],
      ['ref_video_url', picture],
      ['ref_video_url', sound],
    ];
    for (const [name, url = ''] of rows) {
      const answer = await sent(
        field(name, VIDEOS, (given) => ({ [name]: given })),
        url,
      );
      assert.equal(toldBy(answer), '400 invalid_input_url', `${name} ${url}`);
    }
    const answer = await sent(
      field('reference_audio', MUSIC, (url) => ({ reference_audio: [url] })),
      picture,
    );
    assert.equal(toldBy(answer), '400 invalid_input_url');
    assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 1000, reserved: 0, spent: 0 });
  });

  test('R-292, R-293: a picture may have 25 MiB, as sent and as decompressed, and not a byte more', async () => {
    for (const path of [`/bytes/${25 * MIB}`, `/gzip/${25 * MIB}`]) {
      const { status, json, text } = await sent(PICTURE, at(path));
      assert.equal(status, 202, text);
      await studio.ended(caller, json.id);
    }
    const larger = [`/bytes/${25 * MIB + 1}`, `/gzip/${25 * MIB + 1}`];
    await assertRefused(
      PICTURE,
      larger.map((path) => ({ url: at(path), code: 'invalid_input_url' })),
    );
  });

  test('R-293: nothing of the caller is sent along', async () => {
    const headers = { cookie: 'a=b', 'x-own': 'secret', referer: 'https://example.com/', 'idempotency-key': 'a-key' };
    const body = { model: 'any/image', prompt: 'a gate', images: [at('/picture')] };
    const { status, json } = await studio.sent(caller, IMAGES, { body, headers });
    assert.equal(status, 202);
    await studio.ended(caller, json.id);
    const received = allowed.requests.at(-1)?.headers ?? {};
    assert.deepEqual(Object.keys(received).sort(), ['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
    assert.equal(JSON.stringify(received).includes(caller.key), false);
  });

  test('R-295: without the operator’s list the same address is refused, and each use of the list is logged', async () => {
    const { status, json } = await sent(PICTURE, at('/picture/a?secret'));
    assert.equal(status, 202);
    await studio.ended(caller, json.id);
    const lines = log.filter((line) => line.includes('fetching from an allowed host') && line.includes('/picture'));
    assert.ok(lines.length > 0);
    assert.equal(
      lines.some((line) => line.includes('secret')),
      false,
    );
    const { database, clock } = studio.gateway;
    const strict = await studio.another({ database, clock, settings: { TOLLGATE_FETCH_ALLOW: '' } });
    const fetched = allowed.requests.length;
    const body = { model: 'any/image', prompt: 'a gate', images: [at('/picture')] };
    assert.equal(toldBy(await strict.call('POST', IMAGES, { key: caller.key, body })), '400 invalid_media_url');
    assert.equal(allowed.requests.length, fetched);
    await strict.stop();
  });

  test('R-297: a data URL is decoded and judged by its bytes, in every field that takes one', async () => {
    for (const place of FETCHED) {
      const { status, json, text } = await sent(place, dataUrl(PNG, 'text/html'));
      assert.equal(status, 202, `${place.name}: ${text}`);
      await studio.ended(caller, json.id);
      const answer = await sent(place, dataUrl(GIF, 'image/png'));
      assert.equal(toldBy(answer), '400 unsupported_image_format', place.name);
    }
  });
});
