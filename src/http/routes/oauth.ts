import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, errorHeaders } from '../../errors.ts';
import { AUTHORIZATIONS_PER_ADDRESS_RPM } from '../../limits.ts';
import {
  type AuthorizationServerLoader,
  authorizationServerLoader,
  OAUTH_PATHS,
  serverMetadata,
} from '../../oauth/index.ts';
import type { HttpDeps } from '../deps.ts';
import { pageHeaders } from '../pages/layout.ts';
import { refusalPage } from '../pages/pages.ts';

/**
 * The authorization server's own routes. They are no part of the API's contract: their errors have the shape of RFC 6749,
 * and their bodies are read, and bounded, by the library that answers.
 */
export async function mountAuthorizationServer(
  server: FastifyInstance,
  deps: HttpDeps,
): Promise<AuthorizationServerLoader> {
  const load = await authorizationServerLoader(deps, ({ code, description, requestId }) => ({
    headers: pageHeaders(),
    html: refusalPage(description, code, requestId),
  }));
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    // The library knows OPTIONS as a preflight only, and answers any other in a shape of its own.
    if (request.method === 'OPTIONS' && !isPreflight(request)) return reply.callNotFound();
    const oauth = await load();
    reply.hijack();
    reply.raw.setHeader('x-request-id', request.id);
    if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
    await oauth.answer(request.raw, reply.raw, { requestId: request.id, visitor: () => visitorOf(deps, request) });
  };
  void server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    const onRequest = refuseFloods(deps);
    scope.route({ method: ['GET', 'POST'], url: OAUTH_PATHS.authorize, onRequest, handler: answer });
    scope.get(`${OAUTH_PATHS.authorize}/:uid`, answer);
    scope.route({ method: ['POST', 'OPTIONS'], url: OAUTH_PATHS.device, onRequest, handler: answer });
    for (const url of [OAUTH_PATHS.token, OAUTH_PATHS.revoke, OAUTH_PATHS.introspect]) {
      scope.route({ method: ['POST', 'OPTIONS'], url, handler: answer });
    }
    scope.get(OAUTH_PATHS.metadata, (_request, reply) =>
      reply.header('access-control-allow-origin', '*').send(serverMetadata(deps.config.publicUrl)),
    );
  });
  return load;
}

function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

/** A token bucket per address in front of what leaves a row behind and asks for no proof. */
function refuseFloods({ throttle, browser }: HttpDeps) {
  const allowance = { rpm: AUTHORIZATIONS_PER_ADDRESS_RPM, concurrency: undefined };
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const slot = await throttle.take(`authorization address:${browser.originOf(request).address}`, allowance);
    if (slot.state === 'acquired') return slot.release();
    const error = new ApiError(slot.code);
    reply.errorCode = error.code;
    reply.code(error.status).headers(errorHeaders(error.code));
    if (request.method === 'GET') {
      return reply.headers(pageHeaders()).send(refusalPage(error.message, error.code, request.id));
    }
    return reply.send({ error: 'temporarily_unavailable', error_description: error.message });
  };
}

async function visitorOf({ browser }: HttpDeps, request: FastifyRequest) {
  const signedIn = await browser.find(request);
  if (signedIn === undefined) return undefined;
  const { session, person } = signedIn;
  return { sessionId: session.id, personId: person.id, email: person.email };
}
