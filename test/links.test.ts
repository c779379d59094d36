import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { type ObjectStore, openObjectStore } from '../src/storage/index.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import { changedAt } from './support/object-store-contract.ts';
import { until } from './support/postgres.ts';
import { requestText, sendRaw } from './support/raw-http.ts';

const TEXT = '0123456789'.repeat(100);
const LINK_SECONDS = 900;

let gateway: Gateway;
let store: ObjectStore;
let keys = 0;

before(async () => {
  gateway = await Gateway.start();
  assert.ok(gateway.config.rootSecret !== undefined);
  store = await openObjectStore(gateway.config, { rootSecret: gateway.config.rootSecret });
});

after(() => gateway.stop());

// Links tell whole seconds.
beforeEach(() => gateway.clock.advance(1 - (gateway.clock.nowMs() % 1000) / 1000));

test('R-241, R-244: a link answers 200 without a key until a second before its expiry, and 403 a second after', async () => {
  const target = await stored();
  assert.equal((await get(target)).text, TEXT);
  gateway.clock.advance(LINK_SECONDS - 1);
  assert.equal((await get(target)).status, 200);
  gateway.clock.advance(2);
  const late = await get(target);
  assert.deepEqual([late.status, late.json.error.code], [403, 'invalid_link']);
});

test('R-241: a link holds before the second that it names and not in it', async () => {
  const target = await stored();
  gateway.clock.advance(LINK_SECONDS - 0.001);
  assert.equal((await get(target)).status, 200);
  gateway.clock.advance(0.001);
  assert.equal((await get(target)).status, 403);
});

test('R-240: links made more than a second apart differ, and both hold', async () => {
  const key = await put(TEXT);
  const first = await linkTo(key);
  gateway.clock.advance(1.001);
  const second = await linkTo(key);
  assert.notEqual(first, second);
  for (const target of [first, second]) assert.equal((await get(target)).status, 200);
});

test('R-244: a link says what it serves and until when, and nothing of who owns it', async () => {
  const target = await stored();
  const expires = gateway.clock.nowMs() / 1000 + LINK_SECONDS;
  assert.match(
    target,
    new RegExp(
      `^/media/test/\\d+\\?issued=\\d+&expires=${expires}&type=image%2Fpng&name=a-1\\.png&signature=[\\w-]{43}$`,
    ),
  );
});

test('R-247: a link of which any one character was changed is refused', async () => {
  const target = await stored();
  for (let at = '/media/'.length; at < target.length; at++) {
    const { status, headers } = await get(changedAt(target, at));
    assert.equal(status, 403, changedAt(target, at));
    assert.equal(headers['access-control-allow-origin'], '*');
  }
});

test('R-247: another spelling of the same link is refused', async () => {
  const target = await stored();
  const others = [
    target.replace('/test/', '/%74est/'),
    target.replace('/test/', '//test/'),
    target.replace('%2F', '%2f'),
    target.replace('%2F', '/'),
    `${target}&x=1`,
    `${target}=`,
    target.replace(/&name=[^&]*/, '$&$&'),
    target.replace(/(issued=\d+)&(expires=\d+)/, '$2&$1'),
    target.replace(/&signature=.*/, ''),
    target.replace(/\?.*/, ''),
    target.replace('/test/', '/test/../test/'),
    // In base64 the last character of 32 bytes has two bits that decode to nothing.
    `${target.slice(0, -1)}${followingOf(target.at(-1) ?? '')}`,
  ];
  for (const other of others) {
    assert.notEqual(other, target);
    const { status } = await sendRaw(gateway.url, requestText(`GET ${other}`));
    assert.equal(status, 403, other);
  }
});

test('R-247: a link for one object never opens another', async () => {
  const [one, other] = [await stored('one'), await stored('other')];
  const [pathOfOne = '', queryOfOne] = one.split('?');
  const [pathOfOther = ''] = other.split('?');
  assert.equal((await get(`${pathOfOther}?${queryOfOne}`)).status, 403);
  assert.equal((await get(`${pathOfOne}?${queryOfOne}`)).text, 'one');
});

test('R-248: what is served is shown and never run, and not kept beyond the link', async () => {
  const target = await stored();
  gateway.clock.advance(100.5);
  const { headers } = await get(target);
  assert.deepEqual(
    {
      'x-content-type-options': headers['x-content-type-options'],
      'content-disposition': headers['content-disposition'],
      'content-security-policy': headers['content-security-policy'],
      'cache-control': headers['cache-control'],
      'content-type': headers['content-type'],
      'accept-ranges': headers['accept-ranges'],
      'content-length': headers['content-length'],
      'access-control-allow-origin': headers['access-control-allow-origin'],
    },
    {
      'x-content-type-options': 'nosniff',
      'content-disposition': 'inline; filename="a-1.png"',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'private, max-age=799',
      'content-type': 'image/png',
      'accept-ranges': 'bytes',
      'content-length': '1000',
      'access-control-allow-origin': '*',
    },
  );
});

const satisfied: readonly [range: string, part: string, contentRange: string][] = [
  ['bytes=0-99', TEXT.slice(0, 100), 'bytes 0-99/1000'],
  ['bytes=-50', TEXT.slice(-50), 'bytes 950-999/1000'],
  ['bytes=100-', TEXT.slice(100), 'bytes 100-999/1000'],
  ['bytes=0-0', '0', 'bytes 0-0/1000'],
  ['bytes=999-999', '9', 'bytes 999-999/1000'],
  ['bytes=990-2000', TEXT.slice(990), 'bytes 990-999/1000'],
  ['bytes=-2000', TEXT, 'bytes 0-999/1000'],
  ['bytes= 5-6', '56', 'bytes 5-6/1000'],
];

for (const [range, part, contentRange] of satisfied) {
  test(`R-245: ${range} answers 206 with exactly its bytes`, async () => {
    const { status, headers, text } = await get(await stored(), { range });
    assert.equal(status, 206);
    assert.equal(text, part);
    assert.equal(headers['content-range'], contentRange);
    assert.equal(headers['content-length'], String(part.length));
    assert.equal(headers['accept-ranges'], 'bytes');
  });
}

for (const range of ['bytes=1000-', 'bytes=1000-1001', 'bytes=-0']) {
  test(`R-246: ${range} cannot be satisfied and answers 416 with the size`, async () => {
    const { status, headers } = await get(await stored(), { range });
    assert.equal(status, 416);
    assert.equal(headers['content-range'], 'bytes */1000');
    assert.equal(headers['cache-control'], undefined);
  });
}

for (const range of ['bytes=9-5', 'bytes=x', 'bytes', 'lines=0-9', 'bytes=0-1,5-6', 'bytes=0 - 9']) {
  test(`R-246: ${range} is ignored and answers 200 with the whole object`, async () => {
    const { status, headers, text } = await get(await stored(), { range });
    assert.deepEqual([status, text, headers['content-range']], [200, TEXT, undefined]);
  });
}

test('R-246: of an empty object the whole is nothing, and no range of it exists', async () => {
  const target = await stored('');
  const { status, headers, text } = await get(target);
  assert.deepEqual([status, headers['content-length'], text], [200, '0', '']);
  for (const range of ['bytes=0-', 'bytes=0-0', 'bytes=-1']) {
    const refused = await get(target, { range });
    assert.deepEqual([refused.status, refused.headers['content-range']], [416, 'bytes */0']);
  }
});

test('R-246: If-Range gives the part of what is still the same, and the whole of what has changed', async () => {
  const key = await put(TEXT);
  const target = await linkTo(key);
  const { etag = '' } = (await get(target)).headers;
  assert.match(etag, /^"[\w-]+"$/);
  const part = (ifRange: string) => get(target, { range: 'bytes=0-9', 'if-range': ifRange });
  assert.equal((await part(etag)).status, 206);
  for (const other of ['"other"', `W/${etag}`, etag.slice(1, -1), 'Tue, 15 Jan 2030 12:00:00 GMT', '*']) {
    assert.equal((await part(other)).status, 200, other);
  }
  await store.put(key, Buffer.from(TEXT.toUpperCase()), { mimeType: 'image/png', bytesMax: 1000 });
  assert.equal((await part(etag)).status, 200);
});

test('a condition that says that the caller has it already answers 304', async () => {
  const target = await stored();
  const { etag = '', ...sent } = (await get(target)).headers;
  for (const same of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const { status, headers } = await get(target, { 'if-none-match': same, range: 'bytes=0-9' });
    assert.deepEqual([status, headers.etag, headers['cache-control']], [304, etag, sent['cache-control']]);
    assert.equal(headers['content-length'], undefined);
  }
  assert.equal((await get(target, { 'if-none-match': '"other"' })).status, 200);
});

test('R-019: HEAD answers as GET does, without a body and without regard to a range', async () => {
  const target = await stored();
  const whole = await get(target);
  for (const headers of [{}, { range: 'bytes=0-9' }]) {
    const head = await gateway.call('HEAD', target, { headers });
    assert.equal(head.status, 200);
    for (const name of ['content-length', 'content-type', 'etag', 'accept-ranges', 'cache-control']) {
      assert.equal(head.headers[name], whole.headers[name], name);
    }
    assert.equal(head.headers['content-range'], undefined);
  }
  assert.equal((await gateway.call('HEAD', changedAt(target, target.length - 1))).status, 403);
});

test('what a link names and is gone answers 404', async () => {
  const key = await put(TEXT);
  const target = await linkTo(key);
  await store.remove(key);
  const { status, json } = await get(target);
  assert.deepEqual([status, json.error.code], [404, 'not_found']);
  for (const path of ['/media', '/media/', '/media?x=1']) assert.equal((await get(path)).status, 404, path);
});

test('a disk that fails answers 503', async () => {
  const key = await put(TEXT);
  const target = await linkTo(key);
  const [path = ''] = filesOf(key);
  rmSync(path);
  symlinkSync(path, path);
  const { status, headers, json } = await get(target);
  assert.deepEqual([status, json.error.code, headers['retry-after']], [503, 'job_service_unavailable', '1']);
});

test('a slow reader holds the file back, and one that leaves lets it go', async () => {
  const bytes = 64 * 1024 * 1024;
  const key = 'test/large';
  await store.put(key, Buffer.alloc(bytes), { mimeType: 'video/mp4', bytesMax: bytes });
  const target = await linkTo(key);
  const slow = await reader(target);
  await until(() => openFiles(key) === 1);
  // Another reader has had all of it in the meantime.
  const { headers, text } = await get(target);
  assert.deepEqual([headers['content-length'], text.length], [String(bytes), bytes]);
  await until(() => openFiles(key) === 1);
  slow.resetAndDestroy();
  await until(() => openFiles(key) === 0);
});

test('a reader that leaves before the answer begins leaves no file open', async () => {
  const target = await stored();
  for (let round = 0; round < 50; round++) {
    const leaving = await reader(target);
    leaving.resetAndDestroy();
  }
  assert.equal((await get(target)).status, 200);
  await until(() => openFiles('test') === 0);
});

async function stored(text = TEXT): Promise<string> {
  return linkTo(await put(text));
}

async function put(text: string): Promise<string> {
  keys++;
  const key = `test/${keys}`;
  await store.put(key, Buffer.from(text), { mimeType: 'image/png', bytesMax: 1000 });
  return key;
}

/** Path and query: the tests' gateway does not know its port when it makes links. */
async function linkTo(key: string): Promise<string> {
  const now = gateway.clock.now();
  const expiresAt = new Date(now.getTime() + LINK_SECONDS * 1000);
  const link = await store.link(key, { mimeType: 'image/png', fileName: 'a-1.png', expiresAt, now });
  assert.ok(link.startsWith(gateway.config.publicUrl));
  return link.slice(gateway.config.publicUrl.length);
}

function get(target: string, headers: Record<string, string> = {}): Promise<Answer> {
  return gateway.call('GET', target, { headers });
}

/** Asks, and takes nothing of the answer. */
async function reader(target: string): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).pause();
  await once(socket, 'connect');
  socket.write(requestText(`GET ${target}`));
  return socket;
}

function openFiles(key: string): number {
  const paths = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  const folder = join(gateway.config.dataFolder, 'objects');
  return paths.filter((path) => path.startsWith(folder) && path.includes(key.replaceAll('/', '.'))).length;
}

function filesOf(key: string): string[] {
  return readdirSync(gateway.config.dataFolder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(`/${key.replaceAll('/', '.')}`))
    .map((path) => join(gateway.config.dataFolder, path));
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The character that decodes to the same four bits. */
function followingOf(character: string): string {
  return BASE64URL[BASE64URL.indexOf(character) ^ 1] ?? '';
}
