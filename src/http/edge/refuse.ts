import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorCode, errorEnvelope, errorHeaders, errorStatus, helpLink } from '../../errors.ts';
import { newId } from '../../ids.ts';
import { closeBy } from './private-fields.ts';

const LINGER_MS = 2_000;

/** An answer before any route is known. The connection is closed after it. */
export function refuse(response: ServerResponse, requestId: string, code: ErrorCode): void {
  const body = Buffer.from(JSON.stringify(errorEnvelope(code)));
  lingerBeforeClose(response.req.socket);
  response.writeHead(errorStatus(code), {
    ...errorHeaders(code),
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    connection: 'close',
  });
  response.end(body);
}

/** The same for what the parser could not even make a request of, or has not read. No body answers a HEAD. */
export function refuseSocket(socket: Socket, code: ErrorCode, isHead = false): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(errorEnvelope(code));
  const head = [
    `HTTP/1.1 ${errorStatus(code)} Refused`,
    `X-Request-Id: ${newId('req')}`,
    `Link: ${helpLink(code)}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  lingerBeforeClose(socket);
  socket.write(`${head.join('\r\n')}\r\n\r\n${isHead ? '' : body}`);
  socket.destroySoon();
}

const leaving = new WeakSet<Socket>();

/** Whether this connection ends with an answer that was already given or is under way. */
export function isLeaving(socket: Socket): boolean {
  return leaving.has(socket);
}

/**
 * A socket closed while the other side is still sending is reset, and the reset can overtake the answer. So after the
 * answer this side only stops sending, throws away what comes, and closes when the other side does, or after a while.
 */
export function lingerBeforeClose(socket: Socket): void {
  if (leaving.has(socket)) return;
  leaving.add(socket);
  closeBy(socket, () => {
    socket.end();
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('end', () => socket.destroy());
    socket.once('close', () => clearTimeout(timer));
  });
}

/**
 * What could not be read may come behind requests that are still being answered: they get their answers first. When it
 * is the body of such a request itself, this refusal is its answer, unless that has begun: one that is whole is still
 * delivered, one that is not is cut.
 */
export function refuseInTurn(socket: Socket, code: ErrorCode, isHead = false): void {
  const answer = answerOn(socket);
  if (answer?.req.complete === true) {
    lingerBeforeClose(socket);
    answer.once('close', () => socket.writable && refuseInTurn(socket, code, isHead));
  } else if (answer?.writableEnded === true) {
    lingerBeforeClose(socket);
    socket.destroySoon();
  } else if (answer?.headersSent === true) {
    socket.destroy();
  } else {
    refuseSocket(socket, code, isHead || answer?.req.method === 'HEAD');
  }
}

/** Of each connection, in the order of the requests: a client may send the next before the last is answered. */
const unfinished = new WeakMap<Socket, ServerResponse[]>();

/** To be called with each request, before anything is answered. */
export function trackAnswer(socket: Socket, answer: ServerResponse): void {
  const answers = unfinished.get(socket) ?? [];
  if (answers.push(answer) === 1) unfinished.set(socket, answers);
  answer.once('finish', () => answers.shift());
}

/** Whether the last request on a connection without an answer has not come whole: those before it have. */
export function isCutOff(socket: Socket): boolean {
  return unfinished.get(socket)?.at(-1)?.req.complete === false;
}

/** The answer that is under way on a connection, if one is. */
export function answerOn(socket: Socket): ServerResponse | undefined {
  return unfinished.get(socket)?.[0];
}
