import assert from 'node:assert/strict';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Busboy } from '@fastify/busboy';

// All that reaches into a library past its documentation, one function each. Their tests run the real library, so that an
// upgrade that moves a field fails there.

/**
 * `http.Server`: a client that ends its side of the connection after a whole request is answered all the same. Node can
 * do it and has no option for it.
 */
export function allowHalfOpen(server: Server): void {
  assert.ok('httpAllowHalfOpen' in server, 'http.Server has no httpAllowHalfOpen');
  server.httpAllowHalfOpen = true;
}

/**
 * `http.ServerResponse`: leaves the framing of chunks to the caller once the headers announce them, and tells whether
 * they do. Node writes each chunk in four pieces, which costs more than all else that is done for a frame.
 */
export function takeOverChunking(response: ServerResponse): boolean {
  const isChunked = response.chunkedEncoding;
  response.chunkedEncoding = false;
  return isChunked;
}

/** `net.Socket`: what the server does with a connection after its last answer. Node calls `destroySoon` then. */
export function closeBy(socket: Socket, close: () => void): void {
  socket.destroySoon = close;
}

/**
 * The HTTP parser of a connection, from a request on it that offers an upgrade: tells each time that it stops before the
 * end of what came. Behind such a head Node reports no parser error, and drops what comes right behind the body, until
 * the next whole head. To be called while the request is emitted. Where Node has moved these fields nothing is told.
 */
export function onParserStop(socket: Socket, tell: () => void): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser !== 'object' || parser === null) return;
  const event: unknown = Reflect.get(parser.constructor, 'kOnExecute');
  if (typeof event !== 'number') return;
  const onExecute: unknown = Reflect.get(parser, event);
  const currentPiece: unknown = Reflect.get(parser, 'getCurrentBuffer');
  if (typeof onExecute !== 'function' || typeof currentPiece !== 'function') return;
  Reflect.set(parser, event, (taken: unknown) => {
    const { length } = currentPiece.call(parser);
    onExecute(taken);
    // An error is in its place where Node does report it.
    if (typeof taken === 'number' && taken !== length) tell();
  });
}

/** Busboy: how many parts of a form it has seen, those included that it skips without an event. */
export function partsSeen(parser: InstanceType<typeof Busboy>): number {
  const inner: unknown = Reflect.get(parser, '_parser');
  const seen: unknown = typeof inner === 'object' && inner !== null ? Reflect.get(inner, '_nparts') : undefined;
  assert.ok(typeof seen === 'number', 'Busboy does not count its parts');
  return seen;
}
