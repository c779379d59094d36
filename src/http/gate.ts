import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../errors.ts';
import { HEADER_BYTES_MAX, HEADERS_TIMEOUT_MS, REQUEST_TIMEOUT_MS } from '../limits.ts';
import { refuse, refuseSocket } from './refuse.ts';
import { requestIdOf } from './request-id.ts';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The server below the routes. It gives everything that never becomes a routed request (what the parser refuses,
 * ambiguous hosts, tunnels) the same envelope and request id as any other error.
 */
export function createGate(listener: Listener): Server {
  const gated: Listener = (request, response) => {
    if (isWellAddressed(request)) listener(request, response);
    else refuse(response, requestIdOf(request), 'malformed_request');
  };
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: 72_000,
      // Node's own refusal has no envelope; isWellAddressed does it instead.
      requireHostHeader: false,
    },
    gated,
  );
  server.on('checkExpectation', gated);
  server.on('connect', (_request: IncomingMessage, socket: Socket) => refuseSocket(socket, 'not_found'));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || isAnswering(socket)) socket.destroy();
    else refuseSocket(socket, parserRefusal(error.code));
  });
  return server;
}

/** Exactly one Host, and a target that is a path. A full URL is taken as its path only when it names that same host. */
function isWellAddressed(request: IncomingMessage): boolean {
  const target = request.url ?? '';
  if (countHosts(request.rawHeaders) !== 1) return false;
  if (target.startsWith('/')) return true;
  if (!URL.canParse(target)) return false;
  const url = new URL(target);
  if (!/^https?:$/.test(url.protocol) || url.host !== request.headers.host?.toLowerCase()) return false;
  request.url = url.pathname + url.search;
  return true;
}

function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts;
}

function parserRefusal(code: string | undefined): ErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_header_timeout' : 'malformed_request';
}

/** Whether an answer is already on its way, into which an error must not be mixed. */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: answer } = socket as Socket & { _httpMessage?: ServerResponse | null };
  return answer?.headersSent === true;
}
