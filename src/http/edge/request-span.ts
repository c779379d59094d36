import type { FastifyRequest } from 'fastify';
import type { Span, Tracing } from '../../signals/index.ts';
import type { HttpDeps } from '../deps.ts';
import type { Outcome } from './request-line.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the trace of this request is sampled. */
    span?: Span;
  }
}

/** The route's pattern stands for the address, which may hold a credential. */
export function beginSpan(tracing: Tracing, request: FastifyRequest, route: string): void {
  const { method, headers } = request;
  const { traceparent } = headers;
  const span = tracing.request(`${method} ${route}`, typeof traceparent === 'string' ? traceparent : undefined, {
    'http.request.method': method,
    'http.route': route,
    'tollgate.request_id': request.id,
  });
  if (span !== undefined) request.span = span;
}

/** A model is named only where it is one of the configuration: a caller may write anything there. */
export function endSpan(span: Span, { catalogue }: HttpDeps, request: FastifyRequest, { status, code }: Outcome): void {
  const { trace } = request;
  const model = trace?.model;
  span.set({
    'http.response.status_code': status,
    'gen_ai.operation.name': request.routeOptions.config.logged,
    'gen_ai.request.model': model !== undefined && catalogue.snapshot.has(model) ? model : undefined,
    'tollgate.upstream': trace?.upstreamId,
    'tollgate.job_id': trace?.jobId,
    'tollgate.code': code,
  });
  span.end(code !== undefined && (status >= 499 || status === 200) ? code : undefined);
}
