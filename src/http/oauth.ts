import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AuthorizationServer, OAUTH_PATHS, serverMetadata } from '../oauth/index.ts';
import { pageHeaders } from './pages/layout.ts';
import { refusalPage } from './pages/pages.ts';
import type { HttpParts } from './parts.ts';

/**
 * The authorization server's own routes. They are no part of the API's contract: their errors have the shape of RFC 6749,
 * and their bodies are read, and bounded, by the library that answers.
 */
export function mountAuthorizationServer(server: FastifyInstance, parts: HttpParts): AuthorizationServer {
  const oauth = new AuthorizationServer(parts, ({ code, description, requestId }) => ({
    headers: pageHeaders(),
    html: refusalPage(description, code, requestId),
  }));
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack();
    reply.raw.setHeader('x-request-id', request.id);
    if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
    await oauth.answer(request.raw, reply.raw, { requestId: request.id, visitor: () => visitorOf(parts, request) });
  };
  void server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.route({ method: ['GET', 'POST'], url: OAUTH_PATHS.authorize, handler: answer });
    scope.get(`${OAUTH_PATHS.authorize}/:uid`, answer);
    for (const url of [OAUTH_PATHS.token, OAUTH_PATHS.revoke, OAUTH_PATHS.introspect, OAUTH_PATHS.device]) {
      scope.route({ method: ['POST', 'OPTIONS'], url, handler: answer });
    }
    scope.get(OAUTH_PATHS.metadata, (_request, reply) =>
      reply.header('access-control-allow-origin', '*').send(serverMetadata(parts.config.publicUrl)),
    );
  });
  return oauth;
}

async function visitorOf({ browser }: HttpParts, request: FastifyRequest) {
  const signedIn = await browser.find(request);
  if (signedIn === undefined) return undefined;
  const { session, person } = signedIn;
  return { sessionId: session.id, personId: person.id, email: person.email };
}
