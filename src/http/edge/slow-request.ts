import type { FastifyRequest } from 'fastify';
import type { Logger } from '../../log.ts';
import type { RequestTrace } from '../../request-log/index.ts';
import type { HttpDeps } from '../deps.ts';
import type { Outcome } from './request-line.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When the caller had been let in, on the monotonic clock. */
    authorizedAtMs?: number;
  }
}

/** Of a stream the time to its first byte counts: how long it goes on is the caller's wish. */
export function isSlow(
  { config }: HttpDeps,
  { trace }: FastifyRequest,
  startedMs: number,
  durationMs: number,
): boolean {
  const { slowRequestMs } = config.signals;
  if (slowRequestMs === 0) return false;
  return (trace?.streamedAtMs === undefined ? durationMs : trace.streamedAtMs - startedMs) >= slowRequestMs;
}

/** One line of where the time went. A stream is settled behind its last byte, so its line waits for that. */
export function logSlow(
  log: Logger,
  request: FastifyRequest,
  { status, code }: Outcome,
  startedMs: number,
  durationMs: number,
): void {
  const { trace, authorizedAtMs } = request;
  const write = () =>
    log.warn(
      {
        request_id: request.id,
        route: request.routeOptions.url ?? null,
        model: trace?.model,
        status,
        code,
        ms: rounded(durationMs),
        auth_ms: authorizedAtMs && rounded(authorizedAtMs - startedMs),
        ...phasesOf(trace),
        first_byte_ms: trace?.streamedAtMs && rounded(trace.streamedAtMs - startedMs),
      },
      'slow request',
    );
  if (trace?.billed === undefined) write();
  else void trace.billed.then(write);
}

function phasesOf(trace: RequestTrace | undefined) {
  if (trace === undefined) return {};
  return {
    hold_ms: trace.holdMs && rounded(trace.holdMs),
    upstream: trace.upstreamId,
    upstream_ms: trace.upstreamMs && rounded(trace.upstreamMs),
    settle_ms: trace.settleMs && rounded(trace.settleMs),
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
