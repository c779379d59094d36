import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { test } from 'node:test';
import { until } from '../test/support/postgres.ts';
import { boundReads } from './bounded-reads.ts';
import { READ_BYTES_MAX } from './limits.ts';

const SENT = Buffer.from(Array.from({ length: 20 * READ_BYTES_MAX + 1 }, (_, index) => index % 251));

/** A socket at which more than one read has arrived, and nothing was read yet. */
async function waitedFor(): Promise<Socket> {
  const server = createServer((accepted) => void accepted.on('error', () => undefined).end(SENT)).unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address !== 'string');
  const socket = boundReads(new Socket().connect(address.port, '127.0.0.1'));
  socket.on('readable', () => undefined);
  await until(() => socket.readableLength > READ_BYTES_MAX);
  return socket;
}

test('no read takes more than the limit, and all of them together take everything', async () => {
  const socket = await waitedFor();
  const pieces: Buffer[] = [];
  const readAll = () => {
    for (let piece = socket.read(); piece !== null; piece = socket.read()) pieces.push(piece);
  };
  socket.on('readable', readAll);
  readAll();
  await once(socket, 'end');
  assert.ok(Buffer.concat(pieces).equals(SENT));
  assert.equal(Math.max(...pieces.map((piece) => piece.length)), READ_BYTES_MAX);
});

test('nothing is read from a socket that was destroyed', async () => {
  const socket = await waitedFor();
  assert.equal(socket.read().length, READ_BYTES_MAX);
  socket.destroy();
  assert.ok(socket.readableLength > 0, 'there was more');
  assert.equal(socket.read(), null);
});
