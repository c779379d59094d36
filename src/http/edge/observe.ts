import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../log.ts';
import type { Signals } from '../../signals/index.ts';
import type { HttpDeps } from '../deps.ts';
import { isMatchedRaw, loggedPath } from './not-found.ts';
import { addLine, type Outcome, outcomeOf, requestLine } from './request-line.ts';
import { beginSpan, endSpan } from './request-span.ts';
import { isSlow, logSlow } from './slow-request.ts';
import type { Stopping } from './stopping.ts';
import type { Uploads } from './uploads.ts';

/** What counts the requests that are under way. */
export interface OpenRequests {
  readonly stopping: Stopping;
  readonly uploads: Uploads;
}

/** Every answer carries its request id; every request gives back what it held and leaves one line in the log. */
export function observe(deps: HttpDeps, open: OpenRequests, request: FastifyRequest, reply: FastifyReply): void {
  const startedMs = performance.now();
  const createdAtMs = deps.clock.nowMs();
  open.stopping.enter(reply.raw);
  deps.signals?.requestBegan();
  open.uploads.enter(request, reply);
  if (deps.tracing !== undefined)
    beginSpan(deps.tracing, request, isRouted(request) ? (request.routeOptions.url ?? '') : 'none');
  reply.header('x-request-id', request.id);
  const { errors } = request.routeOptions.config;
  if (errors !== undefined) reply.header(errors.idHeader, request.id);
  // Emitted once, however the answer ends: sent, failed, or the caller gone.
  reply.raw.on('close', () => {
    open.stopping.leave(reply.raw);
    open.uploads.leave(request);
    request.release?.();
    const durationMs = performance.now() - startedMs;
    const outcome = outcomeOf(request, reply);
    logRequest(deps.log, request, outcome, durationMs);
    if (deps.signals !== undefined) count(deps.signals, request, outcome, startedMs, durationMs);
    if (isSlow(deps, request, startedMs, durationMs)) logSlow(deps.log, request, outcome, startedMs, durationMs);
    if (request.span !== undefined) endSpan(request.span, deps, request, outcome);
    const line = requestLine(request, reply, outcome, { createdAtMs, durationMs });
    if (line !== undefined) addLine(deps.requestLog, line, request.trace);
  });
}

export function isRouted({ is404, routeOptions, raw }: FastifyRequest): boolean {
  return !is404 && routeOptions.url !== undefined && isMatchedRaw(routeOptions.url, raw.url ?? '');
}

/** A request that no route takes is of one series, whatever address it was sent to. */
function count(
  signals: Signals,
  request: FastifyRequest,
  { status, code }: Outcome,
  startedMs: number,
  durationMs: number,
): void {
  const { method, trace, routeOptions } = request;
  const streamedAtMs = trace?.streamedAtMs;
  signals.requestEnded({
    method: isRouted(request) ? method : 'other',
    route: isRouted(request) ? (routeOptions.url ?? '') : 'none',
    model: trace?.model,
    status,
    code,
    seconds: durationMs / 1000,
    firstByteSeconds: streamedAtMs === undefined ? undefined : (streamedAtMs - startedMs) / 1000,
  });
}

function logRequest(log: Logger, request: FastifyRequest, { status, code }: Outcome, ms: number): void {
  const isKnown = isRouted(request);
  log.info({
    request_id: request.id,
    method: request.method,
    // The pattern and not the address: a query may hold a credential.
    route: isKnown ? request.routeOptions.url : null,
    path: isKnown ? undefined : loggedPath(request.raw.url ?? ''),
    status,
    ms: Math.round(ms * 100) / 100,
    account: request.caller?.accountId ?? request.signedIn?.membership?.accountId,
    key: request.caller?.keyId,
    person: request.signedIn?.person.id,
    code,
  });
}
