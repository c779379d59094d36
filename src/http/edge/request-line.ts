import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../accounts/index.ts';
import { type ErrorCode, errorStatus } from '../../errors.ts';
import { timedUuid } from '../../ids.ts';
import { MODEL_ID_CHARS_MAX } from '../../limits.ts';
import type { LoggedEndpoint, RequestLine, RequestLog, RequestTrace } from '../../request-log/index.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Under which name the route's requests stand in the request log. */
    logged?: LoggedEndpoint;
  }
  interface FastifyRequest {
    /** On routes whose requests are logged, once the caller is authorized. */
    trace?: RequestTrace;
    /** Where the body decides under which name the request is logged. */
    loggedAs?: LoggedEndpoint;
  }
  interface FastifyReply {
    /** Why a stream broke off whose status had been sent. */
    streamFault?: ErrorCode;
  }
}

/** How a request ended, as it was told to the caller or would have been. */
export interface Outcome {
  readonly status: number;
  readonly code: ErrorCode | undefined;
}

export function outcomeOf({ givenUpFor }: FastifyRequest, reply: FastifyReply): Outcome {
  const { statusCode: status, streamFault, errorCode } = reply;
  if (streamFault !== undefined) return { status, code: streamFault };
  if (reply.raw.writableFinished) return { status, code: errorCode };
  const code = givenUpFor ?? 'request_canceled';
  return { status: errorStatus(code), code };
}

/** The request's line for the request log; undefined where none is kept: reads, and requests without a known account. */
export function requestLine(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, code }: Outcome,
  { createdAtMs, durationMs }: { readonly createdAtMs: number; readonly durationMs: number },
): RequestLine | undefined {
  const { trace, release } = request;
  const endpoint = request.loggedAs ?? request.routeOptions.config.logged;
  const caller = request.caller as Caller | undefined;
  if (endpoint === undefined || caller === undefined) return undefined;
  return {
    id: timedUuid(createdAtMs),
    createdAt: new Date(createdAtMs),
    accountId: caller.accountId,
    keyId: caller.keyId,
    personId: request.signedIn?.person.id,
    // A transcription is answered with an id of its own.
    requestId: String(reply.getHeader('x-request-id')),
    endpoint,
    model: trace?.model,
    status,
    errorCode: code,
    durationMs: Math.round(durationMs),
    isStreamed: trace?.isStreamed ?? false,
    upstreamId: trace?.upstreamId,
    reservationId: trace?.reservationId,
    jobId: trace?.jobId,
    cost: trace?.cost,
    // Without a slot it was refused by scope or rate, which no rate limits.
    isRepeatable: release === undefined,
  };
}

/** A stream is settled behind its last byte: where it is to be told what that cost, its line waits for the settlement. */
export function addLine(requestLog: RequestLog, line: RequestLine, trace: RequestTrace | undefined): void {
  if (trace?.costPricing === undefined || trace.billed === undefined) requestLog.add(line);
  else void trace.billed.then(() => requestLog.add({ ...line, cost: trace.cost }));
}

/** Notes the model that was asked for, whether or not there is such a one. */
export function traceModel({ trace }: FastifyRequest, model: unknown): void {
  if (trace === undefined || typeof model !== 'string') return;
  trace.model = NOT_STORABLE.test(model) || model.length > MODEL_ID_CHARS_MAX ? storable(model) : model;
}

/** PostgreSQL takes neither NUL nor half of a pair, and a page shows no other control characters. */
const NOT_STORABLE = /[\p{Cc}\p{Cs}]/u;

function storable(text: string): string {
  return text.slice(0, MODEL_ID_CHARS_MAX).replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
}

/** A JSON body's, before it is known to be a request. */
export function modelOfJson(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'model' in body ? body.model : undefined;
}

export function modelOfForm(values: readonly (readonly [name: string, value: string])[]): string | undefined {
  return values.find(([name]) => name === 'model')?.[1];
}

/** From now on the answer is sent piece by piece. */
export function markStreamed({ request: { trace } }: FastifyReply): void {
  if (trace === undefined) return;
  trace.isStreamed = true;
  trace.streamedAtMs = performance.now();
}
