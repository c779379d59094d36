import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { get } from './answer.ts';

/** A connection to a server that treats it like this. */
async function connected(
  accept: (socket: Socket) => void,
): Promise<{ socket: Socket; url: URL; closed: Promise<void> }> {
  const server = createServer(accept).unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address !== 'string');
  const socket = connect(address.port, '127.0.0.1').on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  return { socket, url: new URL(`http://127.0.0.1:${address.port}/`), closed };
}

test('a connection that is not used after all is closed', async () => {
  const { socket, url, closed } = await connected(() => undefined);
  await assert.rejects(get(url, socket, AbortSignal.abort()), { name: 'AbortError' });
  await closed;
});

test('a connection that closed before it was used is an error and no endless search for another', async () => {
  const { socket, url, closed } = await connected((accepted) => void accepted.end());
  socket.resume();
  await closed;
  await assert.rejects(get(url, socket, AbortSignal.timeout(60_000)), /the connection is closed/);
});
