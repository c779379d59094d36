import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { test } from 'node:test';
import { boundReads } from './bounded-reads.ts';
import { READ_BYTES_MAX } from './limits.ts';

/** Enough that a turn of the event loop meets more than one read. */
const SENT = Buffer.from(Array.from({ length: 20 * READ_BYTES_MAX + 1 }, (_, index) => index % 251));

async function reading() {
  const server = createServer((accepted) => void accepted.on('error', () => undefined).end(SENT)).unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address !== 'string');
  return boundReads(new Socket().connect(address.port, '127.0.0.1'));
}

test('no read takes more than the limit, and all of them together take everything', async () => {
  const socket = await reading();
  const pieces: Buffer[] = [];
  socket.on('readable', () => {
    for (let piece = socket.read(); piece !== null; piece = socket.read()) pieces.push(piece);
  });
  await once(socket, 'end');
  assert.ok(Buffer.concat(pieces).equals(SENT));
  assert.equal(Math.max(...pieces.map((piece) => piece.length)), READ_BYTES_MAX);
});

test('nothing is read from a socket that was destroyed', async () => {
  const socket = await reading();
  const sizes: number[] = [];
  socket.on('readable', () => {
    for (let piece = socket.read(); piece !== null; piece = socket.read()) {
      sizes.push(piece.length);
      socket.destroy();
      assert.ok(socket.readableLength > 0, 'there was more');
    }
  });
  await once(socket, 'close');
  assert.deepEqual(sizes, [READ_BYTES_MAX]);
});
