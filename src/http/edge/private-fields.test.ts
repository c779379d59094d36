import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { Busboy } from '@fastify/busboy';
import { allowHalfOpen, closeBy, partsSeen, takeOverChunking } from './private-fields.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n';

async function listening(t: TestContext, listener: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  t.after(() => server.close().closeAllConnections());
  await once(server, 'listening');
  return server;
}

function connectTo(server: Server) {
  return connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
}

test('a half-closed connection is answered only by a server that allows it', async (t) => {
  // An answer after the end of the client's side has arrived.
  const answerLate: RequestListener = (request, response) =>
    request.socket.once('end', () => setImmediate(() => response.end('late')));
  const [strict, lenient] = [await listening(t, answerLate), await listening(t, answerLate)];
  allowHalfOpen(lenient);
  assert.doesNotMatch(await text(connectTo(strict).end(REQUEST)), /late/);
  assert.match(await text(connectTo(lenient).end(REQUEST)), /late/);
});

test('chunks are framed by the caller where the headers announce them', async (t) => {
  let isChunked: boolean | undefined;
  const server = await listening(t, (request, response) => {
    if (request.url === '/long') response.setHeader('content-length', 4);
    response.writeHead(200, { connection: 'close' });
    isChunked = takeOverChunking(response);
    response.write(isChunked ? '4\r\n' : '');
    response.end(isChunked ? 'body\r\n0\r\n\r\n' : 'body');
  });
  assert.match(await text(connectTo(server).end(REQUEST)), /chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n$/);
  assert.equal(isChunked, true);
  assert.match(await text(connectTo(server).end(REQUEST.replace('/', '/long'))), /\r\n\r\nbody$/);
  assert.equal(isChunked, false);
});

test('the end of a connection after its last answer is left to the caller', async (t) => {
  const closed = Promise.withResolvers<boolean>();
  const server = await listening(t, ({ socket }, response) => {
    closeBy(socket, () => {
      closed.resolve(socket.destroyed);
      socket.destroy();
    });
    response.writeHead(200, { connection: 'close' }).end('last');
  });
  const client = connectTo(server);
  client.write(REQUEST);
  assert.match(await text(client), /last/);
  assert.equal(await closed.promise, false);
  client.destroy();
});

test('the parts that Busboy skips are counted', async () => {
  const part = (head: string) => `--x\r\n${head}\r\n\r\nvalue\r\n`;
  const parser = new Busboy({ headers: { 'content-type': 'multipart/form-data; boundary=x' } });
  const names: (string | undefined)[] = [];
  parser.on('field', (name) => names.push(name));
  parser.end(`${part('content-disposition: form-data; name="a"')}${part('content-type: text/plain')}--x--\r\n`);
  await once(parser, 'finish');
  assert.deepEqual(names, ['a']);
  assert.equal(partsSeen(parser), 2);
});
