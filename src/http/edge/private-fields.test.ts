import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { Busboy } from '@fastify/busboy';
import { allowHalfOpen, closeBy, onParserStop, partsSeen, takeOverChunking } from './private-fields.ts';

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

const UPGRADE =
  'POST / HTTP/1.1\r\nHost: here\r\nConnection: upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n';
for (const [what, pieces] of Object.entries({
  'broken chunks': [`${UPGRADE}broken`],
  'broken chunks in a piece of their own': [UPGRADE, 'broken'],
  'a request right behind the body': [`${UPGRADE}0\r\n\r\n${REQUEST}`],
  'no head behind the body': [`${UPGRADE}0\r\n\r\n`, 'no head\r\n'],
})) {
  test(`the parser tells that it has stopped behind an upgrade for ${what}`, { timeout: 30_000 }, async (t) => {
    const stopped = Promise.withResolvers<void>();
    const server = await listening(t, ({ socket }, response) => {
      onParserStop(socket, stopped.resolve);
      response.writeContinue();
      response.end('');
    });
    server.on('clientError', () => stopped.reject(new Error('Node reports it: nothing has to be watched any more')));
    const client = connectTo(server);
    const [first = '', second] = pieces;
    client.write(first);
    if (second !== undefined) {
      await once(client, 'data');
      client.write(second);
    }
    await stopped.promise;
    client.destroy();
  });
}

test('the parser does not stop behind an upgrade while the framing is right', async (t) => {
  let stops = 0;
  const server = await listening(t, (request, response) => {
    if (request.headers.upgrade !== undefined) onParserStop(request.socket, () => stops++);
    void text(request).then((body) => response.end(`<${body}>`));
  });
  const client = connectTo(server);
  client.write(`${UPGRADE}3\r\nabc`);
  await once(server, 'request');
  client.write(`\r\n1\r\nd\r\n0\r\n\r\n`);
  await once(client, 'data');
  client.end(REQUEST.replace('Host', 'Connection: close\r\nHost'));
  await text(client);
  assert.equal(stops, 0);
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
