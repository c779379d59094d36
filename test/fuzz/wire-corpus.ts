// Bytes on a connection that no HTTP client would send: shapes of request smuggling, broken framing, other protocols.
import type { Random } from '../../packages/verify/src/random.ts';
import type { Ending } from './client.ts';
import { nested } from './hostile-values.ts';

export interface WireCase {
  readonly pieces: readonly Buffer[];
  readonly ending: Ending;
}

/** Would be a second request if a shape were read in another way than the first recipient reads it. */
const HIDDEN = 'GET /v1/models HTTP/1.1\r\nHost: hidden\r\nX-Request-Id: hidden\r\n\r\n';
const BODY = '{"model":"x"}';

const HEADS: readonly string[] = [
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: 5, 5',
  'Content-Length: 5\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 5',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding: \x0bchunked',
  'Transfer-Encoding:\r\n chunked',
  'X: y\r\n Transfer-Encoding: chunked',
  'transfer-encoding: CHUNKED',
  'Content-Length: +5',
  'Content-Length: -1',
  'Content-Length: 0x5',
  'Content-Length: 5 5',
  'Content-Length: 5\x00',
  'Content-Length: 99999999999999999999',
  'Content-Length: 4294967296',
  'Content-Length:',
  'Content-Length: ',
  'Content-Length : 5',
  ' Content-Length: 5',
  'Content_Length: 5',
  'Connection: close, keep-alive',
  'Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked',
  'Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  'Upgrade: TLS/1.3',
  'Expect: 100-continue',
  'Expect: 200-ok',
  'Expect: 100-continue\r\nContent-Length: 5',
  'Host: second.test',
  'Host:',
  'TE: trailers',
  'Trailer: Content-Length',
  'Content-Encoding: gzip\r\nContent-Length: 5',
  'Content-Encoding: identity\r\nContent-Length: 5',
  'Authorization: Bearer\r\nAuthorization: Basic eDp5',
  'Cookie: a=b\r\nCookie: tollgate_session=x',
  'X-Request-Id: a\r\nX-Request-Id: b',
  'X-Request-Id: \xe9\x80',
  `X-Request-Id: ${'i'.repeat(129)}`,
  'X-Forwarded-For: 1.2.3.4, evil',
  'Forwarded: for="_x"',
  'Range: bytes=0-0,1-1,-1',
  'If-None-Match: *',
  'Accept: */*;q=x',
  'Accept-Encoding: gzip;q=0, *;q=0',
  'Origin: null',
  'X-HTTP-Method-Override: DELETE',
  'Idempotency-Key: \x01',
  `Idempotency-Key: ${'k'.repeat(513)}`,
  `X-Long: ${'l'.repeat(16_000)}`,
  `X-Long: ${'l'.repeat(33_000)}`,
  'A: b\r\n'.repeat(2_100).trimEnd(),
  ': empty name',
  'X-Nul: a\0b',
  'X-Cr: a\rb',
  'X-Lf: a\nb',
  'no colon',
  '\x80\xff: x',
];

const BODIES: readonly string[] = [
  '',
  '12345',
  BODY,
  '0\r\n\r\n',
  `5\r\n12345\r\n0\r\n\r\n${HIDDEN}`,
  `0\r\n\r\n${HIDDEN}`,
  `5;ext="x"\r\n12345\r\n0\r\n\r\n`,
  `5;${'e'.repeat(20_000)}\r\n12345\r\n0\r\n\r\n`,
  `5\n12345\n0\n\n`,
  `05\r\n12345\r\n0\r\n\r\n`,
  `0x5\r\n12345\r\n0\r\n\r\n`,
  `5 \r\n12345\r\n0\r\n\r\n`,
  `-5\r\n12345\r\n0\r\n\r\n`,
  `ffffffffffffffff\r\n12345`,
  `10000000000000005\r\n12345\r\n0\r\n\r\n`,
  `7fffffff\r\n12345`,
  `5\r\n1234567\r\n0\r\n\r\n`,
  `5\r\n123\r\n0\r\n\r\n`,
  `zz\r\n`,
  `\r\n`,
  `0\r\nTrailer: x\r\nContent-Length: 5\r\n\r\n`,
  `0\r\n${'T: x\r\n'.repeat(10_000)}\r\n`,
  `5\r\n12345\r\n`,
  HIDDEN,
  `12345${HIDDEN}`,
  '\r\n\r\n\r\n',
];

const LINES: readonly string[] = [
  'GET /healthz HTTP/1.1',
  'GET /v1/models HTTP/1.1',
  'POST /v1/chat/completions HTTP/1.1',
  'POST /v1/files HTTP/1.1',
  'HEAD /healthz HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'OPTIONS /v1/models HTTP/1.1',
  'TRACE / HTTP/1.1',
  'CONNECT 127.0.0.1:22 HTTP/1.1',
  'CONNECT /healthz HTTP/1.1',
  'PURGE / HTTP/1.1',
  'get /healthz HTTP/1.1',
  'GET  /healthz HTTP/1.1',
  'GET /healthz  HTTP/1.1',
  'GET\t/healthz\tHTTP/1.1',
  'GET /healthz HTTP/1.0',
  'POST /v1/chat/completions HTTP/1.0',
  'GET /healthz HTTP/0.9',
  'GET /healthz HTTP/1.2',
  'GET /healthz HTTP/2.0',
  'GET /healthz HTTP/1.1 ',
  'GET /healthz http/1.1',
  'GET /healthz',
  'GET healthz HTTP/1.1',
  'GET http://gateway.test/healthz HTTP/1.1',
  'GET http://other.test/healthz HTTP/1.1',
  'GET //other.test/healthz HTTP/1.1',
  'GET /healthz#x HTTP/1.1',
  'GET /\0 HTTP/1.1',
  'GET /\xe9 HTTP/1.1',
  `GET /${'a'.repeat(33_000)} HTTP/1.1`,
  `GET /${'a/'.repeat(8_000)} HTTP/1.1`,
  `${'A'.repeat(70_000)} / HTTP/1.1`,
  ' GET /healthz HTTP/1.1',
  '\r\nGET /healthz HTTP/1.1',
  '\nGET /healthz HTTP/1.1',
  `${'\r\n'.repeat(5_000)}GET /healthz HTTP/1.1`,
];

const WHOLE: readonly string[] = [
  `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'\x00'.repeat(500)}`,
  '\x80\x2e\x01\x00\x02',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x12\x04\x00\x00\x00\x00\x00',
  'SSH-2.0-OpenSSH_9.0\r\n',
  'EHLO nowhere.invalid\r\n',
  '*1\r\n$4\r\nPING\r\n',
  '\x00\x00\x00\x08\x04\xd2\x16\x2f',
  '\xff\xfb\x01\xff\xfb\x03',
  'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET /healthz HTTP/1.1\r\nHost: gateway.test\r\n\r\n',
  '{"jsonrpc":"2.0"}\r\n\r\n',
  '\0'.repeat(1_000),
  'G',
  'GET',
  'GET /healthz HTTP/1.1\r\n',
  'GET /healthz HTTP/1.1\r\nHost: gateway.test',
  'GET /healthz HTTP/1.1\r\nHost: gateway.test\r\n\r',
];

const ENDINGS: readonly Ending[] = ['half-close', 'half-close', 'half-close', 'reset', 'close'];

/** `authorization` goes with some, so that a body is waited for. */
export function wireCase(random: Random, authorization: string): WireCase {
  const text = random.chance(0.1) ? random.pick(WHOLE) : requests(random, authorization);
  const bytes = Buffer.from(random.chance(0.1) ? changed(text, random) : text, 'latin1');
  return { pieces: pieces(bytes, random), ending: random.pick(ENDINGS) };
}

/** One or several on one connection. */
function requests(random: Random, authorization: string): string {
  const count = random.chance(0.8) ? 1 : random.whole(2, 20);
  return Array.from({ length: count }, () => request(random, authorization)).join('');
}

function request(random: Random, authorization: string): string {
  const line = random.chance(0.6) ? random.pick(LINES.slice(0, 4)) : random.pick(LINES);
  const heads = ['Host: gateway.test'];
  if (random.chance(0.6)) heads.push(authorization);
  for (let more = random.whole(0, 2); more > 0; more--) heads.push(random.pick(HEADS));
  const newline = random.chance(0.97) ? '\r\n' : random.pick(['\n', '\r', '\r\r\n']);
  const body = random.chance(0.98) ? random.pick(BODIES) : nested(random).text;
  return `${[line, ...heads].join(newline)}${newline}${newline}${body}`;
}

function changed(text: string, random: Random): string {
  const chars = text.split('');
  for (let changes = random.whole(1, 5); changes > 0; changes--) {
    const at = random.whole(0, Math.min(chars.length - 1, 300));
    chars[at] = random.pick(['', '\r', '\n', '\0', ' ', '\t', ':', '\xff', chars[at] ?? '', '\r\n\r\n']);
  }
  return chars.join('');
}

/** Mostly at once, sometimes in several writes. */
function pieces(bytes: Buffer, random: Random): Buffer[] {
  if (random.chance(0.8)) return [bytes];
  const cuts = Array.from({ length: random.whole(1, 8) }, () => random.whole(0, bytes.length)).sort((a, b) => a - b);
  return [0, ...cuts].map((from, place) => bytes.subarray(from, cuts[place] ?? bytes.length));
}
