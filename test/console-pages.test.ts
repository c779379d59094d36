import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { Gateway } from './support/gateway.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());

async function get(path: string, headers: Record<string, string> = {}) {
  const { statusCode: status, headers: answered, body } = await request(gateway.url + path, { headers });
  return { status, headers: answered, bytes: Buffer.from(await body.arrayBuffer()) };
}

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test('R-523: a browser gets the console at / and at every path below /console', async () => {
  for (const path of ['/', '/console', '/console/keys', '/console/jobs/job_1?tab=inputs']) {
    const { status, headers, bytes } = await get(path, HTML);
    assert.equal(status, 200, path);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(headers['cache-control'], 'no-store');
    assert.match(bytes.toString(), /<div id="root"><\/div>/);
  }
});

test('a program that asks for JSON gets the envelope there', async () => {
  for (const accept of ['application/json', '*/*', undefined]) {
    const { status, bytes } = await get('/', accept === undefined ? {} : { accept });
    assert.equal(status, 404);
    assert.equal(JSON.parse(bytes.toString()).error.code, 'not_found');
  }
});

test('R-525: the page runs only our own scripts, by a nonce of its own, and no other site frames it', async () => {
  const pages = await Promise.all([get('/', HTML), get('/', HTML)]);
  const nonces = pages.map(({ headers, bytes }) => {
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none'; script-src 'self';/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.ok(!policy.includes('unsafe'), policy);
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? '';
    assert.ok(bytes.toString().includes(`nonce="${nonce}"`));
    assert.ok(!bytes.toString().includes('__NONCE__'));
    return nonce;
  });
  assert.notEqual(nonces[0], nonces[1]);
});

test('its files are named by their content, kept for ever, and compressed as the browser takes them', async () => {
  const { bytes } = await get('/', HTML);
  const names = [...bytes.toString().matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, name = '']) => name);
  assert.ok(names.some((name) => name.endsWith('.js')) && names.some((name) => name.endsWith('.css')));
  for (const name of names) {
    const [plain, brotli, gzip] = await Promise.all([
      get(name),
      get(name, { 'accept-encoding': 'gzip, br' }),
      get(name, { 'accept-encoding': 'gzip' }),
    ]);
    assert.match(String(plain.headers['cache-control']), /immutable/);
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(brotli.headers['content-encoding'], 'br');
    assert.deepEqual(brotliDecompressSync(brotli.bytes), plain.bytes);
    assert.equal(gzip.headers['content-encoding'], 'gzip');
    assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes);
  }
});

test('what is no file of the console is not found, and nothing outside it can be read', async () => {
  for (const path of ['/assets/none.js', '/assets/', '/assets/..%2f..%2fpackage.json', '/assets/../index.html']) {
    const { status, bytes } = await get(path);
    assert.equal(status, 404, path);
    assert.equal(JSON.parse(bytes.toString()).error.code, 'not_found');
  }
});

test('the first load is below 250 KB compressed', async () => {
  const { bytes } = await get('/', HTML);
  const names = [...bytes.toString().matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, name = '']) => name);
  const files = await Promise.all(names.map((name) => get(name, { 'accept-encoding': 'gzip' })));
  const total = files.reduce((sum, file) => sum + file.bytes.length, 0);
  assert.ok(total < 250_000, `${total} bytes`);
});

/** Every text by its path. */
function textsOf(tree: unknown, path = ''): readonly (readonly [path: string, text: string])[] {
  if (typeof tree === 'string') return [[path, tree]];
  return Object.entries(tree as object).flatMap(([name, branch]) => textsOf(branch, `${path}.${name}`));
}

test('every language has every text, with the same blanks to fill in', () => {
  const [english, chinese] = ['en', 'zh'].map((language) =>
    textsOf(JSON.parse(readFileSync(`console/text/${language}.json`, 'utf8'))),
  );
  const shape = (texts: typeof english = []) =>
    texts.map(([path, text]) => [path, [...text.matchAll(/\{\w+\}/g)].map(([blank]) => blank).sort()]);
  assert.deepEqual(shape(chinese), shape(english));
  assert.deepEqual(
    (chinese ?? []).filter(([, text]) => text.trim() === ''),
    [],
  );
});
