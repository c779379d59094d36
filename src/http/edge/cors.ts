import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';
import { FACADE } from '../contract/facade.ts';

const EXPOSED = 'x-request-id, request-id, retry-after, x-should-retry, location, x-credits-charged, x-job-id, link';

const OPEN_PATHS = ['/v1', `${FACADE}/`, '/mcp'];

/** Lets web pages of the operator's listed origins call the API with a key. Cookies are never involved. */
export function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  const listed = new Set(origins);
  const isListed = (request: FastifyRequest) => listed.has(request.headers.origin ?? '');
  const allow = (request: FastifyRequest, reply: FastifyReply) => {
    if (!OPEN_PATHS.some((path) => request.url.startsWith(path))) return;
    // Also without an origin: a stored answer must not be handed to a page for which it was not made.
    const vary = String(reply.getHeader('vary') ?? '');
    if (!vary.includes('origin')) reply.header('vary', vary === '' ? 'origin' : `${vary}, origin`);
    if (!isListed(request)) return;
    reply.header('access-control-allow-origin', request.headers.origin);
    reply.header('access-control-expose-headers', EXPOSED);
  };
  // A stream takes its answer over from the framework and is never sent by it; a request that is refused early gets no
  // further than the hooks before this one.
  server.addHook('onRequest', (request, reply, done) => {
    allow(request, reply);
    done();
  });
  server.addHook('onSend', (request, reply, payload, done) => {
    allow(request, reply);
    done(null, payload);
  });
  for (const url of ['/v1/*', '/v1beta/*', `${FACADE}/*`, '/mcp']) {
    server.options(url, (request, reply) => {
      if (!isListed(request)) throw new ApiError('not_found');
      return allowPreflight(request, reply);
    });
  }
}

function allowPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply
    .header('access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE')
    .header('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '')
    .header('access-control-max-age', '600')
    .send('');
}
