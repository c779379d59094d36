import { randomBytes } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config, S3Settings } from '../../config.ts';
import { html } from '../../html.ts';
import { notFound } from '../edge/not-found.ts';
import { acceptedEncoding } from '../edge/rendered.ts';
import type { BrowserSessions } from '../edge/session.ts';
import { layout, pageHeaders } from './layout.ts';

const BUILT = fileURLToPath(new URL('../../../console/dist', import.meta.url));
const PAGE = 'index.html';
/** Served by docs.ts, from the disk. */
const DOCUMENTATION = `docs${sep}`;
/** Where the build leaves room for the nonce of its styles. */
const NONCE = /__NONCE__/g;
/** And for whether the browser has a session's cookie, which scripts cannot see. */
const SESSION_COOKIE = '__SESSION_COOKIE__';
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const ENCODINGS = { br: '.br', gzip: '.gz' } as const;

/** The console as it was built: its files in memory, as they are and compressed. */
class ConsoleFiles {
  readonly page: string | undefined;
  readonly #files = new Map<string, Buffer>();

  constructor(folder: string) {
    for (const file of filesBelow(folder).filter((name) => !name.startsWith(DOCUMENTATION)))
      this.#files.set(file, readFileSync(join(folder, file)));
    this.page = this.#files.get(PAGE)?.toString('utf8');
    this.#files.delete(PAGE);
  }

  /** False where there is no such file. Names have a digest of their content, so that they are never asked for again. */
  send(name: string, request: FastifyRequest, reply: FastifyReply): boolean {
    const type = TYPES[extname(name)];
    const plain = this.#files.get(name);
    if (type === undefined || plain === undefined) return false;
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    const compressed = encoding && this.#files.get(name + ENCODINGS[encoding]);
    if (encoding !== undefined && compressed !== undefined) reply.header('content-encoding', encoding);
    const isNamedByDigest = name.startsWith('assets/');
    void reply
      .headers({
        'content-type': type,
        'cache-control': isNamedByDigest ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
        'x-content-type-options': 'nosniff',
        vary: 'accept-encoding',
      })
      .send(compressed ?? plain);
    return true;
  }
}

/** The console's pages, which are one file, and what that loads. A client that does not ask for HTML finds nothing there. */
export function consolePages(
  server: FastifyInstance,
  config: Pick<Config, 's3'>,
  sessions: Pick<BrowserSessions, 'hasCookie'>,
): void {
  const files = new ConsoleFiles(BUILT);
  const mediaOrigin = config.s3 && bucketOrigin(config.s3);
  const page = (request: FastifyRequest, reply: FastifyReply) => {
    if (!(request.headers.accept ?? '').includes('text/html')) throw notFound(request.method, request.url);
    if (files.page === undefined) return reply.headers(pageHeaders()).send(NOT_BUILT);
    const nonce = randomBytes(16).toString('base64');
    return reply
      .headers({ ...pageHeaders(), 'content-security-policy': policy(nonce, mediaOrigin), vary: 'accept' })
      .send(files.page.replace(NONCE, nonce).replace(SESSION_COOKIE, sessions.hasCookie(request) ? 'sent' : 'none'));
  };
  for (const path of ['/', '/console', '/console/*']) server.get(path, page);
  // Clients look whether an address answers before they have anything to ask.
  server.head('/', (_request, reply) => reply.send());
  server.get('/favicon.svg', (request, reply) => {
    if (!files.send('favicon.svg', request, reply)) reply.callNotFound();
  });
  server.get<{ Params: { '*': string } }>('/assets/*', (request, reply) => {
    if (!files.send(`assets/${request.params['*']}`, request, reply)) reply.callNotFound();
  });
}

const NOT_BUILT = layout(
  'Console',
  html`<h1>The console is not built</h1><p>Run <code>npm run build</code> and start again. The API works without it.</p>`,
);

/** Only our own scripts and calls; media also from the bucket that keeps them. Styles that scripts add carry the nonce. */
function policy(nonce: string, mediaOrigin: string | undefined): string {
  const media = `'self' blob:${mediaOrigin === undefined ? '' : ` ${mediaOrigin}`}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src ${media} data:`,
    `media-src ${media}`,
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ');
}

function bucketOrigin({ bucket, endpoint, region }: S3Settings): string {
  if (endpoint !== undefined) return new URL(endpoint).origin;
  return `https://${bucket}.s3.${region ?? '*'}.amazonaws.com`;
}

function filesBelow(folder: string): readonly string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch {
    return [];
  }
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
