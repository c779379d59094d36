import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from '../../html.ts';
import { acceptedEncoding, etagOf, matchesEtag } from '../edge/rendered.ts';
import { layout, pageHeaders } from './layout.ts';

const BUILT = fileURLToPath(new URL('../../../console/dist/docs', import.meta.url));
/** The address that the documents name, and that stands for this gateway's own. */
const DOCUMENTED_ORIGIN = 'http://127.0.0.1:8787';
const REFERENCE = 'api.html';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};
const ENCODINGS = { br: '.br', gzip: '.gz' } as const;
const compress = promisify(gzip);

/** Pages load the style sheet and the icon, and run nothing. */
const POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'";
/** The reference runs its own script, which adds styles without a nonce, and calls this gateway alone. */
const REFERENCE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/**
 * The documentation as it was built with the console. Only the names of its files are in memory: they are read when a
 * page is asked for.
 */
export function documentPages(server: FastifyInstance, publicUrl: string): void {
  const names = namesBelow(BUILT);
  const sendFile = async (name: string, request: FastifyRequest, reply: FastifyReply) => {
    if (names.size === 0) return reply.headers(pageHeaders()).send(NOT_BUILT);
    if (!names.has(name)) return reply.callNotFound();
    return name.startsWith('assets/') ? sendAsset(name, request, reply) : sendDocument(name, publicUrl, request, reply);
  };
  server.get('/docs', (request, reply) => sendFile('index.html', request, reply));
  server.get<{ Params: { '*': string } }>('/docs/*', (request, reply) => {
    const name = request.params['*'];
    return sendFile(extname(name) === '' ? `${name}.html` : name, request, reply);
  });
  for (const name of ['llms.txt', 'llms-full.txt']) {
    server.get(`/${name}`, (request, reply) => sendFile(name, request, reply));
  }
}

const NOT_BUILT = layout(
  'Documentation',
  html`<h1>The documentation is not built</h1><p>Run <code>npm run build</code> and start again. The API works without it.</p>`,
);

/** A page, or its Markdown, with the address of this gateway in the place of the documented one. */
async function sendDocument(
  name: string,
  publicUrl: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const written = await readFile(join(BUILT, name), 'utf8');
  const text = written.replaceAll(DOCUMENTED_ORIGIN, publicUrl);
  reply.headers({
    ...documentHeaders(name),
    'content-security-policy': name === REFERENCE ? REFERENCE_POLICY : POLICY,
    etag: etagOf(text),
  });
  if (matchesEtag(request.headers['if-none-match'], etagOf(text))) return reply.code(304).send();
  if (acceptedEncoding(request.headers['accept-encoding']) === undefined) return reply.send(text);
  return reply.header('content-encoding', 'gzip').send(await compress(text));
}

/** A script or a style, compressed when it was built. */
async function sendAsset(name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const encoding = acceptedEncoding(request.headers['accept-encoding']);
  if (encoding !== undefined) reply.header('content-encoding', encoding);
  const bytes = await readFile(join(BUILT, name + (encoding === undefined ? '' : ENCODINGS[encoding])));
  return reply.headers(documentHeaders(name)).send(bytes);
}

function documentHeaders(name: string): Record<string, string> {
  return {
    'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
    'cache-control': 'public, max-age=300',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    vary: 'accept-encoding',
  };
}

/** With slashes, and without what is only the compressed form of another. */
function namesBelow(folder: string): ReadonlySet<string> {
  try {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const names = files.map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
    return new Set(names.filter((name) => Object.hasOwn(TYPES, extname(name))));
  } catch {
    return new Set();
  }
}
