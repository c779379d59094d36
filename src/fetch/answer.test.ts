import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { get } from './answer.ts';

test('a connection that closed before it was used is an error and no endless search for another', async () => {
  const server = createServer((socket) => socket.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address !== 'string');
  const socket = connect(address.port, '127.0.0.1');
  await once(socket.resume(), 'close');
  const url = new URL(`http://127.0.0.1:${address.port}/`);
  await assert.rejects(get(url, socket, AbortSignal.timeout(60_000)), /the connection is closed/);
  server.close();
});
