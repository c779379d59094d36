// The yardstick for calls: the fastest proxy that Node can be. It passes bytes on as they come and looks at none of them.
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { Pool } from 'undici';
import { serveBench } from './servers.ts';

/** Smaller bodies come in one piece; a stream would only cost more. */
const BODY_BUFFERED_BYTES_MAX = 65_536;

const [upstream = ''] = process.argv.slice(2);
const pool = new Pool(upstream);

serveBench(
  createServer((request, response) => {
    if (Number(request.headers['content-length']) > BODY_BUFFERED_BYTES_MAX) return forward(request, request, response);
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => forward(request, Buffer.concat(pieces), response));
  }),
);

function forward(request: IncomingMessage, body: Buffer | IncomingMessage, response: ServerResponse): void {
  const { 'content-type': type = '', 'content-length': bytes = '' } = request.headers;
  pool.dispatch(
    { method: 'POST', path: request.url ?? '', headers: { 'content-type': type, 'content-length': bytes }, body },
    {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, status, answer) => {
        const passed: OutgoingHttpHeaders = { 'content-type': String(answer['content-type']) };
        if (answer['content-length'] !== undefined) passed['content-length'] = Number(answer['content-length']);
        response.writeHead(status, passed);
      },
      onResponseData: (_controller, piece) => void response.write(piece),
      onResponseEnd: () => void response.end(),
      onResponseError: () => void response.destroy(),
    },
  );
}
