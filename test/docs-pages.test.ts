import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { DOCUMENTS } from '../console/docs/documents.ts';
import { ERROR_TABLE } from '../src/errors.ts';
import { Gateway } from './support/gateway.ts';
import { sendRaw } from './support/raw-http.ts';

const PUBLIC_URL = 'https://gate.example.com';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start({ settings: { PUBLIC_URL } });
});
after(() => gateway.stop());

async function get(path: string, headers: Record<string, string> = {}) {
  const { statusCode: status, headers: answered, body } = await request(gateway.url + path, { headers });
  return { status, headers: answered, bytes: Buffer.from(await body.arrayBuffer()) };
}

/** Every path of the site that can be reached from /docs, with the page that it gave. */
async function crawl(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const paths = ['/docs'];
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    if (pages.has(path)) continue;
    const { status, bytes } = await get(path);
    assert.equal(status, 200, path);
    const text = bytes.toString();
    pages.set(path, text);
    if (!text.startsWith('<!doctype html>')) continue;
    for (const [, href = ''] of text.matchAll(/(?:href|src)="(\/[^"#]*)/g)) {
      if (href.startsWith('/docs')) paths.push(href);
    }
  }
  return pages;
}

test('every page that is linked from /docs is there, and each link to a heading finds it', async () => {
  const pages = await crawl();
  for (const { slug } of DOCUMENTS) assert.ok(pages.has(`/docs/${slug}`) && pages.has(`/docs/${slug}.md`), slug);
  for (const code of Object.keys(ERROR_TABLE)) assert.ok(pages.has(`/docs/errors/${code}`), code);
  for (const [path, text] of pages) {
    for (const [, target = '', anchor = ''] of text.matchAll(/href="(\/docs[^"#]*)?#([^"]+)"/g)) {
      const page = pages.get(target === '' ? path : target) ?? '';
      assert.ok(page.includes(`id="${anchor}"`), `${path} links to ${target}#${anchor}`);
    }
  }
});

test('a page runs nothing, loads only its own style and icon, and may be framed by no site', async () => {
  const { headers, bytes } = await get('/docs/first-call');
  assert.equal(headers['content-type'], 'text/html; charset=utf-8');
  assert.match(String(headers['content-security-policy']), /^default-src 'none'; style-src 'self'; img-src 'self';/);
  assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.doesNotMatch(bytes.toString(), /<script|<style| style="| on\w+="/);
  assert.doesNotMatch(bytes.toString(), /(?:src|<link[^>]* href)="(?!\/)/);
});

test('a page names the address at which callers reach this gateway', async () => {
  for (const path of ['/docs/first-call', '/docs/first-call.md', '/llms-full.txt']) {
    const text = (await get(path)).bytes.toString();
    assert.ok(text.includes(PUBLIC_URL), path);
    assert.ok(!text.includes('http://127.0.0.1:8787'), path);
  }
});

test('a page is compressed where the browser takes that, and is not sent again while it is the same', async () => {
  const [plain, packed] = await Promise.all([get('/docs/tour'), get('/docs/tour', { 'accept-encoding': 'gzip, br' })]);
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.deepEqual(gunzipSync(packed.bytes), plain.bytes);
  const again = await get('/docs/tour', { 'if-none-match': String(plain.headers.etag) });
  assert.deepEqual([again.status, again.bytes.length], [304, 0]);
});

test('the reference reads /openapi.json with a script of this site, under a policy that lets it reach nothing else', async () => {
  const page = await get('/docs/api');
  assert.match(page.bytes.toString(), /data-url="\/openapi\.json"/);
  assert.doesNotMatch(page.bytes.toString(), /(?:src|href)="(?!\/)/);
  const policy = String(page.headers['content-security-policy']);
  for (const part of ["default-src 'none'", "script-src 'self'", "connect-src 'self'"])
    assert.ok(policy.includes(part));
  assert.doesNotMatch(policy, /https?:|font-src/);
  const [plain, brotli, gzip] = await Promise.all([
    get('/docs/assets/reference.js'),
    get('/docs/assets/reference.js', { 'accept-encoding': 'br' }),
    get('/docs/assets/reference.js', { 'accept-encoding': 'gzip' }),
  ]);
  assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8');
  assert.deepEqual(brotliDecompressSync(brotli.bytes), plain.bytes);
  assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes);
});

test('what is not a file of the site is not found, and no path leads out of it', async () => {
  for (const path of [
    '/docs/none',
    '/docs/errors/none',
    '/docs/assets/reference.js.br',
    '/docs/..%2findex.html',
    '/docs/%2e%2e/index.html',
    '/docs/..%2f..%2fpackage.json',
    '/docs/adr/0001-node-from-npm-without-a-build',
  ]) {
    const { status, bytes } = await get(path);
    assert.equal(status, 404, path);
    assert.equal(JSON.parse(bytes.toString()).error.code, 'not_found', path);
  }
});

test('every document of docs/guides is in the menu', () => {
  const listed = DOCUMENTS.map(({ file }) => file);
  for (const name of readdirSync('docs/guides')) assert.ok(listed.includes(`guides/${name}`), name);
});

test('llms.txt lists every document as Markdown', async () => {
  const { headers, bytes } = await get('/llms.txt');
  assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
  for (const { slug } of DOCUMENTS) assert.ok(bytes.toString().includes(`(/docs/${slug}.md)`), slug);
});

test('a refusal leads to the page of its code, wherever it is made', async () => {
  const routed = await get('/v1/models');
  const unknown = await get('/nothing-here');
  const messages = await request(`${gateway.url}/v1/messages`, { method: 'POST' });
  await messages.body.dump();
  const parser = await sendRaw(gateway.url, 'GET / HTTP/1.1\r\nHost: a\r\nBad header\r\n\r\n');
  assert.deepEqual(
    [routed.headers.link, unknown.headers.link, messages.headers.link, parser.headers.link],
    ['missing_token', 'not_found', 'missing_token', 'malformed_request'].map(
      (code) => `</docs/errors/${code}>; rel="help"`,
    ),
  );
});
