import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, ScriptedServer } from '../emulator/scripted-server.ts';
import { type Upstream, UpstreamPools } from './http.ts';
import { inMemoryMedia } from './in-memory-media.ts';
import { jsonWithMedia } from './inline-media.ts';
import { defineWire, ownUrl } from './wire.ts';

const wire = defineWire({
  headers: ({ apiKey }) => ({ authorization: `Key ${apiKey}` }),
  faults: { errorIn: (body) => body.error ?? undefined },
});
const server = new ScriptedServer(async () => ({ status: 200, headers: JSON_TYPE, body: '{"a":1}' }));
const JSON_TYPE = { 'content-type': 'application/json' };
const pools = new UpstreamPools();
let upstream: Upstream;
before(async () => {
  await server.start();
  const { signal } = new AbortController();
  upstream = { model: 'm', address: `${server.url}/base`, apiKey: 'k', timeoutMs: 60_000, signal, pools };
});
after(async () => {
  await pools.close();
  await server.stop();
});

const instead = (answer: Answer) => server.script({ kind: 'instead', ...answer });

test('a call without a body is a GET and one with a body a POST, and each carries the credential', async () => {
  await wire.json(upstream, { path: '/read?x=1' });
  await wire.json(upstream, { path: '/write', body: { json: { a: 1, b: undefined } }, headers: { extra: 'yes' } });
  const [read, write] = server.requests.slice(-2);
  assert.deepEqual([read?.method, read?.path, read?.headers.accept], ['GET', '/base/read?x=1', 'application/json']);
  assert.deepEqual([write?.method, write?.path, write?.bytes.toString()], ['POST', '/base/write', '{"a":1}']);
  assert.deepEqual([write?.headers['content-type'], write?.headers.extra], ['application/json', 'yes']);
  for (const request of [read, write]) assert.equal(request?.headers.authorization, 'Key k');
});

test('an address of its own replaces the upstream’s', async () => {
  await wire.json(upstream, { path: ownUrl(`${server.url}/other?x=1`, upstream) });
  assert.equal(server.requests.at(-1)?.path, '/other?x=1');
});

for (const address of ['https://evil.example/x', '/x', '', undefined, 'javascript:1', 7]) {
  test(`${JSON.stringify(address)} is no address of the upstream’s`, () =>
    assert.throws(() => ownUrl(address, upstream), { fault: 'garbled' }));
}

test('a download is behind the upstream’s address, and carries the credential', async () => {
  instead({ status: 200, headers: { 'content-type': 'image/png' }, body: 'PNG' });
  const pieces = await wire.download(upstream, '/file?x=1');
  assert.equal(Buffer.concat(await Array.fromAsync(pieces)).toString(), 'PNG');
  const { path, headers } = server.requests.at(-1) ?? {};
  assert.deepEqual([path, headers?.authorization], ['/base/file?x=1', 'Key k']);
});

test('a download follows a redirect on the upstream’s own host, with the credential, and no other', async () => {
  instead({ status: 302, headers: { location: '/elsewhere?x=2' }, body: '' });
  instead({ status: 200, headers: { 'content-type': 'image/png' }, body: 'PNG' });
  const pieces = await wire.download(upstream, '/file');
  assert.equal(Buffer.concat(await Array.fromAsync(pieces)).toString(), 'PNG');
  const { path, headers } = server.requests.at(-1) ?? {};
  assert.deepEqual([path, headers?.authorization], ['/elsewhere?x=2', 'Key k']);
  for (const location of ['https://evil.example/x', '//evil.example/x', '']) {
    instead({ status: 302, headers: { location }, body: '' });
    if (location === '') for (const _ of [1, 2, 3]) instead({ status: 302, headers: { location }, body: '' });
    await assert.rejects(wire.download(upstream, '/file'), { fault: 'garbled' });
  }
});

for (const path of ['@evil.example/x', '.evil.example/x', ':1/x', '0/x']) {
  test(`a download of ${path} goes nowhere`, async () => {
    const before = server.requests.length;
    const bare = { ...upstream, address: server.url };
    await assert.rejects(wire.download(bare, path), { fault: 'garbled' });
    assert.equal(server.requests.length, before);
  });
}

test('events are asked for as such, and a document in place of them is read for its error', async () => {
  instead({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: 'data: x\n\n' });
  const { body } = await wire.events(upstream, { path: '/' });
  assert.equal(Buffer.concat(await Array.fromAsync(body)).toString(), 'data: x\n\n');
  assert.equal(server.requests.at(-1)?.headers.accept, 'text/event-stream');
  instead({ status: 200, headers: JSON_TYPE, body: '{"error":{"code":429}}' });
  await assert.rejects(wire.events(upstream, { path: '/' }), { fault: 'rate' });
  instead({ status: 200, headers: JSON_TYPE, body: '{}' });
  await assert.rejects(wire.events(upstream, { path: '/' }), { fault: 'garbled' });
  instead({ status: 200, headers: JSON_TYPE, body: '{}' });
  await assert.rejects(wire.events(upstream, { path: '/' }, 'client'), { fault: 'client' });
});

test('events without a type are events only where the format’s servers send such', async () => {
  const lenient = defineWire({ headers: () => ({}), faults: {}, hasUntypedEvents: true });
  for (const each of [lenient, wire]) {
    instead({ status: 200, body: 'data: x\n\n' });
    const events = each.events(upstream, { path: '/' });
    if (each === lenient) await Array.fromAsync((await events).body);
    else await assert.rejects(events, { fault: 'garbled' });
  }
});

test('how long to stay away is read in milliseconds before seconds', async () => {
  instead({ status: 429, headers: { 'retry-after': '3', 'retry-after-ms': '2500' }, body: '' });
  await assert.rejects(wire.json(upstream, { path: '/' }), { fault: 'rate', retryAfterMs: 2500 });
  instead({ status: 429, headers: { 'retry-after': '3' }, body: '' });
  await assert.rejects(wire.json(upstream, { path: '/' }), { fault: 'rate', retryAfterMs: 3000 });
});

test('media anywhere in a body are written as data URLs, piece by piece', async () => {
  const [one, two] = [
    inMemoryMedia(Buffer.alloc(300_000, 1), 'image/png'),
    inMemoryMedia(Buffer.from('ab'), 'audio/wav'),
  ];
  const input = { text: 'x', list: [one, two], deep: { clip: { url: two } } };
  await wire.json(upstream, { path: '/', body: jsonWithMedia(input) });
  const url = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`;
  assert.deepEqual(JSON.parse(server.requests.at(-1)?.bytes.toString() ?? ''), {
    text: 'x',
    list: [url('image/png', Buffer.alloc(300_000, 1)), url('audio/wav', Buffer.from('ab'))],
    deep: { clip: { url: url('audio/wav', Buffer.from('ab')) } },
  });
});
