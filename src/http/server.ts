import type { Server } from 'node:http';
import Fastify, { type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { ApiError, type ErrorCode, errorEnvelope, errorHeaders } from '../errors.ts';
import { PATH_PARAM_CHARS_MAX } from '../limits.ts';
import type { AuthorizationServerLoader } from '../oauth/index.ts';
import type { ErrorShape } from './contract/contract.ts';
import type { HttpDeps } from './deps.ts';
import { apiErrorOf } from './edge/api-error.ts';
import { takeBodies } from './edge/body.ts';
import { clientAddress } from './edge/client-address.ts';
import { boundConnections } from './edge/connections.ts';
import { allowOrigins } from './edge/cors.ts';
import { createGate } from './edge/gate.ts';
import { notFound, RouteHints } from './edge/not-found.ts';
import { isRouted, observe } from './edge/observe.ts';
import { lingerBeforeClose } from './edge/refuse.ts';
import { requestIdOf } from './edge/request-id.ts';
import { Routes } from './edge/route.ts';
import { Stopping } from './edge/stopping.ts';
import { Uploads } from './edge/uploads.ts';
import { consentPages } from './pages/consent.ts';
import { consolePages } from './pages/console.ts';
import { devicePages } from './pages/device.ts';
import { documentPages } from './pages/docs.ts';
import { identityPages } from './pages/identity.ts';
import { linkPages } from './pages/links.ts';
import { Pages } from './pages/pages.ts';
import { passwordPages } from './pages/password.ts';
import { signInPages } from './pages/sign-in.ts';
import { signUpPages } from './pages/sign-up.ts';
import { accountRoutes } from './routes/account.ts';
import { accountAdminRoutes } from './routes/admin-accounts.ts';
import { clockAdminRoutes } from './routes/admin-clock.ts';
import { configAdminRoutes } from './routes/admin-config.ts';
import { exportAdminRoutes } from './routes/admin-exports.ts';
import { grantAdminRoutes } from './routes/admin-grants.ts';
import { jobAdminRoutes } from './routes/admin-jobs.ts';
import { keyAdminRoutes } from './routes/admin-keys.ts';
import { memberAdminRoutes } from './routes/admin-members.ts';
import { oauthClientAdminRoutes } from './routes/admin-oauth-clients.ts';
import { oauthGrantAdminRoutes } from './routes/admin-oauth-grants.ts';
import { overviewAdminRoutes } from './routes/admin-overview.ts';
import { peopleAdminRoutes } from './routes/admin-people.ts';
import { recordAdminRoutes } from './routes/admin-records.ts';
import { upstreamAdminRoutes } from './routes/admin-upstreams.ts';
import { chatRoutes } from './routes/chat.ts';
import { consoleAccountRoutes } from './routes/console-account.ts';
import { consoleCatalogueRoutes } from './routes/console-catalogue.ts';
import { consoleKeyRoutes } from './routes/console-keys.ts';
import { consoleMemberRoutes } from './routes/console-members.ts';
import { consoleOauthGrantRoutes } from './routes/console-oauth-grants.ts';
import { consoleSessionRoutes } from './routes/console-session.ts';
import { consoleSiteRoutes } from './routes/console-site.ts';
import { contractRoutes } from './routes/contract.ts';
import { embeddingRoutes } from './routes/embeddings.ts';
import { estimateRoutes } from './routes/estimate.ts';
import { facadeFileRoutes } from './routes/facade-files.ts';
import { facadeImageRoutes } from './routes/facade-images.ts';
import { facadeTranscriptionRoutes } from './routes/facade-transcriptions.ts';
import { facadeVideoRoutes } from './routes/facade-videos.ts';
import { fileRoutes } from './routes/files.ts';
import { healthRoutes } from './routes/health.ts';
import { imageRoutes } from './routes/images.ts';
import { jobRequestRoutes } from './routes/job-requests.ts';
import { jobRoutes } from './routes/jobs.ts';
import { linkRoutes } from './routes/links.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { messagesRoutes } from './routes/messages.ts';
import { metricsRoute } from './routes/metrics.ts';
import { modelRoutes } from './routes/models.ts';
import { musicRoutes } from './routes/music.ts';
import { nativeRoutes } from './routes/native.ts';
import { mountAuthorizationServer } from './routes/oauth.ts';
import { probeRoutes } from './routes/probes.ts';
import { publicModelRoutes } from './routes/public-models.ts';
import { requestAdminRoutes, requestRoutes } from './routes/requests.ts';
import { refuseWebSocket, responseRoutes } from './routes/responses.ts';
import { speechRoutes } from './routes/speech.ts';
import { transcriptionRoutes } from './routes/transcriptions.ts';
import { usageRoutes } from './routes/usage.ts';
import { usageReportRoutes } from './routes/usage-report.ts';
import { videoRoutes } from './routes/videos.ts';

export interface HttpServer {
  /** The address it listens on. */
  listen(port: number, host: string): Promise<string>;
  /** Is unready for `unreadyMs`, then refuses new requests, lets running ones end within `drainMs`, and closes all. */
  stop(unreadyMs: number, drainMs: number): Promise<void>;
}

export async function createHttpServer(deps: HttpDeps): Promise<HttpServer> {
  const serves = deps.config.role !== 'work';
  const gate = Promise.withResolvers<Server>();
  const server = Fastify({
    serverFactory: (listener) => {
      const created = createGate(listener);
      boundConnections(created, deps);
      gate.resolve(created);
      return created;
    },
    // The gate does this; the framework's own would answer beside it and cut the connection.
    clientErrorHandler: () => undefined,
    genReqId: requestIdOf,
    exposeHeadRoutes: false,
    // Stopping refuses in our envelope and still lets the probe through; the framework's own refusal does neither.
    return503OnClosing: false,
    routerOptions: { maxParamLength: PATH_PARAM_CHARS_MAX },
    // Paths that cannot be decoded never reach a hook.
    frameworkErrors: (_error, request, reply) => {
      observe(deps, open, request, reply);
      void sendError(reply, new ApiError('malformed_request'));
    },
  });
  const stopping = new Stopping(await gate.promise);
  const open = { stopping, uploads: new Uploads(deps.clock, clientAddress(deps.config.trustedProxies)) };
  const missing = ({ method, url }: FastifyRequest) =>
    notFound(
      method,
      url,
      serves ? hints.for(method, url) : ' This process works on jobs and answers its health alone.',
    );
  takeBodies(server);
  server.addHook('onRequest', (request, reply, done) => {
    observe(deps, open, request, reply);
    done(earlyRefusal(request, stopping, missing));
  });
  server.setErrorHandler((error: FastifyError, request, reply) => {
    const apiError = apiErrorOf(error);
    if (apiError.code === 'internal_error') deps.log.error({ request_id: request.id, err: error }, 'unexpected error');
    else if (apiError.cause !== undefined && apiError.status === 503) {
      deps.log.warn({ request_id: request.id, code: apiError.code, reason: rootReason(apiError) }, 'an engine is away');
    }
    return sendError(reply, apiError);
  });
  server.setNotFoundHandler((request, reply) => sendError(reply, missing(request)));
  if (deps.config.corsOrigins.length > 0) allowOrigins(server, deps.config.corsOrigins);
  const routes = new Routes(server, deps);
  healthRoutes(routes, deps, stopping);
  probeRoutes(routes, deps, stopping);
  if (deps.exposition !== undefined) metricsRoute(server, deps.exposition, deps.config.signals.metrics.token);
  if (serves) {
    addRoutes(routes, deps);
    refuseWebSocket(server);
    mcpRoutes(routes, server, deps);
    consolePages(server, deps.config, deps.browser);
    documentPages(server, deps.config.publicUrl);
    addPages(new Pages(server, deps.browser), deps, await mountAuthorizationServer(server, deps));
  }
  const hints = new RouteHints(routes.contracts, deps.config.publicUrl);
  return {
    listen: (port, host) => server.listen({ port, host }),
    stop: (unreadyMs, drainMs) => stopping.stop(unreadyMs, drainMs, () => server.close()),
  };
}

function addRoutes(routes: Routes, deps: HttpDeps): void {
  modelRoutes(routes, deps);
  publicModelRoutes(routes, deps);
  accountRoutes(routes, deps);
  usageRoutes(routes, deps);
  estimateRoutes(routes, deps);
  facadeImageRoutes(routes, deps);
  facadeVideoRoutes(routes, deps);
  facadeFileRoutes(routes, deps);
  facadeTranscriptionRoutes(routes, deps);
  chatRoutes(routes, deps);
  responseRoutes(routes, deps);
  messagesRoutes(routes, deps);
  nativeRoutes(routes, deps);
  embeddingRoutes(routes, deps);
  requestRoutes(routes, deps);
  imageRoutes(routes, deps);
  videoRoutes(routes, deps);
  musicRoutes(routes, deps);
  speechRoutes(routes, deps);
  transcriptionRoutes(routes, deps);
  jobRoutes(routes, deps);
  jobRequestRoutes(routes, deps);
  fileRoutes(routes, deps);
  linkRoutes(routes, deps);
  accountAdminRoutes(routes, deps);
  keyAdminRoutes(routes, deps);
  configAdminRoutes(routes, deps);
  upstreamAdminRoutes(routes, deps);
  oauthClientAdminRoutes(routes, deps);
  oauthGrantAdminRoutes(routes, deps);
  grantAdminRoutes(routes, deps);
  consoleSiteRoutes(routes, deps);
  consoleSessionRoutes(routes, deps);
  consoleCatalogueRoutes(routes, deps);
  consoleMemberRoutes(routes, deps);
  consoleAccountRoutes(routes, deps);
  consoleKeyRoutes(routes, deps);
  consoleOauthGrantRoutes(routes, deps);
  peopleAdminRoutes(routes, deps);
  memberAdminRoutes(routes, deps);
  overviewAdminRoutes(routes, deps);
  recordAdminRoutes(routes, deps);
  exportAdminRoutes(routes, deps);
  usageReportRoutes(routes, deps);
  jobAdminRoutes(routes, deps);
  requestAdminRoutes(routes, deps);
  clockAdminRoutes(routes, deps);
  contractRoutes(routes, deps);
}

function addPages(pages: Pages, deps: HttpDeps, loadOauth: AuthorizationServerLoader): void {
  signInPages(pages, deps, deps.browser);
  signUpPages(pages, deps, deps.browser);
  passwordPages(pages, deps, deps.browser);
  linkPages(pages, deps, deps.browser);
  consentPages(pages, deps, deps.browser, loadOauth);
  if (deps.openId !== undefined) identityPages(pages, deps, deps.browser, deps.openId);
  devicePages(pages, deps, deps.browser);
}

/** Before any body is read: nothing in it can matter where nothing is. */
function earlyRefusal(
  request: FastifyRequest,
  stopping: Stopping,
  missing: (request: FastifyRequest) => ApiError,
): ApiError | undefined {
  if (stopping.refuses(request.raw)) return new ApiError('shutting_down');
  return isRouted(request) ? undefined : missing(request);
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a body over its cap is called on this route. */
    tooLarge?: ErrorCode;
    /** How refusals are told on this route, where that is not the envelope. */
    errors?: ErrorShape;
  }
  interface FastifyReply {
    /** The public code of an error answer, for the log. */
    errorCode?: ErrorCode;
  }
}

/** The only writer of refusals on routed requests: the envelope, or the shape that the route's format has for it. */
function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  reply.errorCode = error.code;
  reply.code(error.status).headers({ ...errorHeaders(error.code), ...error.headers });
  if (error.status === 413 || error.code === 'shutting_down') {
    lingerBeforeClose(reply.request.raw.socket);
    reply.header('connection', 'close');
  }
  const envelope = errorEnvelope(error.code, error.message, error.param);
  const { routeOptions, id } = reply.request;
  return reply.send(routeOptions.config.errors?.bodyOf(envelope, id) ?? envelope);
}

/** What was behind it all, such as a full disk: the request's own line tells only the code. */
function rootReason(error: Error): string {
  return error.cause instanceof Error ? rootReason(error.cause) : error.message;
}
