import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../../errors.ts';
import {
  HALF_CLOSED_PROBE_MS,
  HEADER_BYTES_MAX,
  HEADERS_TIMEOUT_MS,
  REQUEST_TIMEOUT_MS,
  TIMEOUT_CHECK_MS,
} from '../../limits.ts';
import { allowHalfOpen, onParserStop } from './private-fields.ts';
import { answerOn, isCutOff, isLeaving, refuse, refuseInTurn, trackAnswer } from './refuse.ts';
import { requestIdOf } from './request-id.ts';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The server below the routes. It gives everything that never becomes a routed request (what the parser refuses,
 * ambiguous hosts, tunnels) the same envelope and request id as any other error.
 */
export function createGate(listener: Listener): Server {
  const gated: Listener = (request, response) => {
    if (isLeaving(request.socket)) {
      // Its sender is told that the connection ends before this: an answer would not be read, and none is waited for.
      request.resume();
      return;
    }
    trackAnswer(request.socket, response);
    if (request.headers.upgrade !== undefined) refuseUnparsed(request.socket);
    if (isWellAddressed(request) && isWellFramed(request)) listener(request, response);
    else refuse(response, requestIdOf(request), 'malformed_request');
  };
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: 72_000,
      // Node's own refusal has no envelope; isWellAddressed does it instead.
      requireHostHeader: false,
    },
    gated,
  );
  allowHalfOpen(server);
  server.on('connection', (socket: Socket) => socket.on('end', () => onEnd(socket)));
  server.on('checkExpectation', gated);
  // `Expect: 100-continue`: admission sends the 100, or refuses.
  server.on('checkContinue', gated);
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node has given the socket up by now, its listener for errors included: a reset would end the process.
    socket.on('error', () => socket.destroy());
    refuseInTurn(socket, 'not_found');
  });
  server.on('clientError', (error: ParserError, socket: Socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else if (!isLeaving(socket)) refuseInTurn(socket, parserRefusal(error.code), isHead(error));
  });
  return server;
}

const watched = new WeakSet<Socket>();

/**
 * No upgrade is made here, so that the request is served as a plain one, body included. But the parser stays silent about
 * broken framing behind its head and about bytes that do not wait for its answer, which may be another protocol's.
 */
function refuseUnparsed(socket: Socket): void {
  if (watched.has(socket)) return;
  watched.add(socket);
  onParserStop(socket, () => {
    if (!isLeaving(socket)) refuseInTurn(socket, 'malformed_request');
  });
}

/** Exactly one Host, and a target that is a path. A full URL is taken as its path only when it names that same host. */
function isWellAddressed(request: IncomingMessage): boolean {
  const target = request.url ?? '';
  if (countHosts(request.rawHeaders) !== 1) return false;
  if (target.startsWith('/')) return true;
  const [, host, path = ''] = /^https?:\/\/([^/?#]*)(.*)/i.exec(target) ?? [];
  if (host === undefined || host.toLowerCase() !== request.headers.host?.toLowerCase()) return false;
  request.url = path.startsWith('/') ? path : `/${path}`;
  return true;
}

/** HTTP/1.0 knows no chunks: a proxy of that version in front of this would end the body elsewhere. */
function isWellFramed({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion !== '1.0' || headers['transfer-encoding'] === undefined;
}

function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts;
}

/** `rawPacket` is the piece in which the parser stopped. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/** The parser tells no method before the headers are whole: it is seen where they came in one piece. */
function isHead({ rawPacket }: ParserError): boolean {
  return rawPacket?.toString('latin1', 0, 5) === 'HEAD ';
}

function parserRefusal(code: string | undefined): ErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_header_timeout' : 'malformed_request';
}

/**
 * A caller who half-closes does so right behind its request: one that ends its side in the middle of an answer has left,
 * which stops the work at once. Before an answer the two look alike, and are told apart by probes. The rest of
 * a request that is not whole cannot come any more: Node reports that itself, except behind an upgrade.
 */
function onEnd(socket: Socket): void {
  const answer = answerOn(socket);
  if (answer?.headersSent === true && !answer.writableEnded) socket.destroy();
  else if (isCutOff(socket) && !isLeaving(socket)) refuseInTurn(socket, 'malformed_request');
  else probe(socket);
}

/** The connection of a caller who has left is reset by an interim answer, which ends the call. */
function probe(socket: Socket): void {
  const timer = setInterval(() => {
    const answer = answerOn(socket);
    if (answer === undefined || answer.headersSent) clearInterval(timer);
    else if (answer.req.httpVersion !== '1.0') answer.writeProcessing();
  }, HALF_CLOSED_PROBE_MS);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}
