// What an upstream may do wrong with an answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Random } from '../../packages/verify/src/random.ts';
import { nested } from './hostile-values.ts';
import { tortureJson } from './json-corpus.ts';
import type { UpstreamAnswer } from './upstream.ts';

const STATUSES = [
  200, 201, 202, 204, 206, 302, 304, 400, 401, 402, 403, 404, 408, 413, 418, 422, 429, 500, 502, 503, 599,
];
const TYPES = [
  'text/html',
  'application/json',
  'text/event-stream',
  'image/png',
  '',
  'x',
  'application/json; charset=utf-16',
];
const ENDLESS_BYTES = 3_000_000;
const CLAIMS = ['-1', '1e400', '"7"', 'null', '99999999999999999999', '0.5', '[]', '{}', 'true'];

type Lie = (response: ServerResponse, honest: UpstreamAnswer, random: Random) => void;

const LIES: readonly Lie[] = [
  (response, { contentType, body }) => response.writeHead(200, { 'content-type': contentType }).end(body),
  (response, { body }, random) =>
    response.writeHead(random.pick(STATUSES), { 'content-type': random.pick(TYPES), location: '/loop' }).end(body),
  (response, { contentType, body }, random) =>
    response.writeHead(200, { 'content-type': contentType }).end(body.subarray(0, random.whole(0, body.length))),
  (response, { contentType, body }, random) =>
    response.writeHead(200, { 'content-type': contentType }).end(flipped(body, random)),
  (response, { contentType, body }, random) =>
    response.writeHead(200, { 'content-type': contentType }).end(claiming(body, random)),
  (response, { contentType }, random) =>
    response.writeHead(200, { 'content-type': contentType }).end(tortureJson(random)),
  (response, { contentType }, random) =>
    response.writeHead(200, { 'content-type': contentType }).end(`data: ${nested(random).text}\n\n`),
  (response, { contentType, body }, random) =>
    response
      .writeHead(200, { 'content-type': contentType, 'content-encoding': random.pick(['gzip', 'br', 'x']) })
      .end(body),
  (response, { contentType }, random) =>
    response
      .writeHead(200, { 'content-type': contentType })
      .end(
        random
          .pick(['x', '\0', ' ', 'data: x\n\n', 'data: {}\n\n'])
          .repeat(random.pick([1, 1_000, ENDLESS_BYTES / 10])),
      ),
  (response, { contentType }) => {
    response.writeHead(200, { 'content-type': contentType });
    for (let sent = 0; sent < ENDLESS_BYTES; sent += 50_000) response.write(`data: {"choices":[${' '.repeat(50_000)}`);
    response.end();
  },
  (response) => response.socket?.resetAndDestroy(),
  (response, { contentType, body }) => {
    response.writeHead(200, { 'content-type': contentType });
    response.write(body.subarray(0, body.length / 2), () => response.socket?.resetAndDestroy());
  },
  (response) => raw(response, 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{}'),
  (response) => raw(response, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}{"more":1}HTTP/1.1 200 OK\r\n\r\n'),
  (response) => raw(response, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'),
  (response) => raw(response, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}'),
  (response) => raw(response, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n{}'),
  (response) => raw(response, `HTTP/1.1 200 OK\r\n${'X-Endless: header\r\n'.repeat(60_000)}`),
  (response) => raw(response, `HTTP/1.1 200 OK\r\nX-Long: ${'l'.repeat(200_000)}\r\n\r\n`),
  (response) => raw(response, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(500)),
  (response) => raw(response, 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
  (response) => raw(response, 'HTTP/1.1 999 \r\n\r\n'),
  (response) => raw(response, 'HTTP/1.1 200\r\n: x\r\n\r\n'),
  (response) => raw(response, 'hello'),
  (response) => raw(response, '\0'.repeat(1_000)),
  (response) => raw(response, ''),
];

/** Never answers at all, until the gateway gives up. Rare, since each takes as long as the upstream's deadline. */
const SILENT_SHARE = 0.01;

export function lie(_request: IncomingMessage, response: ServerResponse, honest: UpstreamAnswer, random: Random): void {
  if (random.chance(SILENT_SHARE)) return;
  random.pick(LIES)(response, honest, random);
}

function raw(response: ServerResponse, text: string): void {
  response.socket?.end(text, 'latin1');
}

function flipped(body: Buffer, random: Random): Buffer {
  const changed = Buffer.from(body);
  for (let flips = random.whole(1, 8); flips > 0 && body.length > 0; flips--) {
    changed[random.whole(0, body.length - 1)] = random.whole(0, 255);
  }
  return changed;
}

/** One value of it is something else. */
function claiming(body: Buffer, random: Random): Buffer {
  const text = body.toString('latin1');
  const places = [...text.matchAll(/(?<=":)(?:\d+|"[^"]*"|\{|\[)/g)];
  if (places.length === 0) return body;
  const place = random.pick(places);
  const claim = random.pick(CLAIMS);
  return Buffer.from(text.slice(0, place.index) + claim + text.slice(place.index + place[0].length), 'latin1');
}
