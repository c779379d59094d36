import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { type Fault, UpstreamError } from '../../errors.ts';
import { readBytes, type Upstream, UpstreamPools } from './http.ts';
import { defineWire } from './wire.ts';

const wire = defineWire({ headers: () => ({}), faults: {} });

type Serve = (socket: Socket) => void;

/** A server that does as told once a request comes. */
async function listening(serve: Serve): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => serve(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

function addressOf(server: Server, scheme = 'http'): string {
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `${scheme}://127.0.0.1:${address.port}`;
}

async function call(address: string, pools = new UpstreamPools(), timeoutMs = 60_000): Promise<unknown> {
  const { signal } = new AbortController();
  const upstream: Upstream = { model: 'm', address, apiKey: '', timeoutMs, signal, pools };
  try {
    return await wire.json(upstream, { path: '/work', body: { json: {} } });
  } finally {
    await pools.close();
  }
}

function fails(call: Promise<unknown>, fault: Fault, isUncertain: boolean): Promise<void> {
  return assert.rejects(call, (error) => {
    assert.ok(error instanceof UpstreamError, String(error));
    assert.deepEqual([error.fault, error.isUncertain], [fault, isUncertain], error.message);
    return true;
  });
}

async function answered(serve: Serve, fault: Fault, isUncertain: boolean, timeoutMs?: number): Promise<void> {
  const server = await listening(serve);
  try {
    await fails(call(addressOf(server), undefined, timeoutMs), fault, isUncertain);
  } finally {
    server.close();
  }
}

test('a connection that is refused never brought the request', async () => {
  const server = await listening(() => undefined);
  const address = addressOf(server);
  server.close();
  await once(server, 'close');
  await fails(call(address), 'connection', false);
});

test('a name that does not resolve never brought the request', () =>
  fails(call('http://no-such-host.invalid'), 'connection', false));

test('a handshake that breaks off never brought the request', async () => {
  const server = await listening((socket) => socket.resetAndDestroy());
  await fails(call(addressOf(server, 'https')), 'connection', false);
  server.close();
});

test('a server that lets nobody connect never got the request', async () => {
  // It listens, and then its thread sleeps: two fill the queue, and the third is left to knock.
  const code = `
    const { parentPort } = require('node:worker_threads');
    const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const worker = new Worker(code, { eval: true });
  const [port] = await once(worker, 'message');
  const waiting = [1, 2].map(() => connect(port, '127.0.0.1'));
  await Promise.all(waiting.map((socket) => once(socket, 'connect')));
  class HastyPools extends UpstreamPools {
    readonly #pool = new Pool(`http://127.0.0.1:${port}`, { connect: { timeout: 100 } });
    override at(): ReturnType<UpstreamPools['at']> {
      return { pool: this.#pool, path: '' };
    }
    override close(): Promise<void> {
      return this.#pool.destroy();
    }
  }
  try {
    await fails(call(`http://127.0.0.1:${port}`, new HastyPools()), 'timeout', false);
  } finally {
    for (const socket of waiting) socket.destroy();
    await worker.terminate();
  }
});

const head = (status: number, length: number) => `HTTP/1.1 ${status} X\r\ncontent-length: ${length}\r\n\r\n`;

const BREAKS: readonly { name: string; serve: Serve; fault: Fault; timeoutMs?: number }[] = [
  { name: 'is reset before an answer', serve: (socket) => socket.resetAndDestroy(), fault: 'connection' },
  { name: 'is closed before an answer', serve: (socket) => socket.end(), fault: 'connection' },
  { name: 'is closed in the headers', serve: (socket) => socket.end('HTTP/1.1 200'), fault: 'connection' },
  { name: 'is closed in the body', serve: (socket) => socket.end(`${head(200, 9)}{`), fault: 'connection' },
  {
    name: 'is reset in the body',
    serve: (socket) => socket.write(`${head(200, 9)}{`, () => socket.resetAndDestroy()),
    fault: 'connection',
  },
  { name: 'answers what is not HTTP', serve: (socket) => socket.end('Good day.\r\n\r\n'), fault: 'connection' },
  { name: 'is silent', serve: () => undefined, fault: 'timeout', timeoutMs: 50 },
  {
    name: 'is silent in the body',
    serve: (socket) => socket.write(`${head(200, 9)}{`),
    fault: 'timeout',
    timeoutMs: 50,
  },
  { name: 'answers what is not JSON', serve: (socket) => socket.end(`${head(200, 4)}Good`), fault: 'garbled' },
];

for (const { name, serve, fault, timeoutMs } of BREAKS) {
  test(`a connection that ${name} leaves it uncertain`, () => answered(serve, fault, true, timeoutMs));
}

test('a kept connection that breaks under the next request leaves it uncertain', async () => {
  let calls = 0;
  const server = await listening((socket) => {
    if (++calls === 1) socket.write(`${head(200, 2)}{}`);
    else socket.resetAndDestroy();
  });
  const [pools, { signal }] = [new UpstreamPools(), new AbortController()];
  const upstream = { model: 'm', address: addressOf(server), apiKey: '', timeoutMs: 60_000, signal, pools };
  const ask = async () => readBytes(await wire.send(upstream, { path: '/', body: { json: {} } }));
  await ask();
  await fails(ask(), 'connection', true);
  await pools.close();
  server.close();
});

const STATUSES: readonly [number, Fault][] = [
  [302, 'garbled'],
  [400, 'client'],
  [401, 'account'],
  [404, 'config'],
  [408, 'timeout'],
  [429, 'rate'],
  [500, 'server'],
  [503, 'server'],
  [504, 'server'],
];

for (const [status, fault] of STATUSES) {
  test(`status ${status} is a plain refusal`, () =>
    answered((socket) => socket.end(`${head(status, 2)}{}`), fault, false));
}

test('a refusal that breaks off is still one', () =>
  answered((socket) => socket.end(`${head(503, 9)}{`), 'server', false));

for (const status of [202, 204]) {
  test(`status ${status} where a whole answer was due leaves it uncertain`, () =>
    answered((socket) => socket.end(`HTTP/1.1 ${status} X\r\nconnection: close\r\n\r\n`), 'garbled', true));
}
