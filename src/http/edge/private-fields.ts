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

/** Busboy: how many parts of a form it has seen, those included that it skips without an event. */
export function partsSeen(parser: InstanceType<typeof Busboy>): number {
  const inner: unknown = Reflect.get(parser, '_parser');
  const seen: unknown = typeof inner === 'object' && inner !== null ? Reflect.get(inner, '_nparts') : undefined;
  assert.ok(typeof seen === 'number', 'Busboy does not count its parts');
  return seen;
}
