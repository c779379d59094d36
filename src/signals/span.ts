/** Never a secret, a prompt or a body. What is undefined is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export type SpanKind = 'server' | 'client' | 'internal';

/** One timed step of a trace. There is one only where the trace is sampled. */
export interface Span {
  /** In the form of W3C Trace Context, for what goes on in another process. */
  readonly traceparent: string;
  /** The same where an upstream may be told it, by setting; undefined otherwise. */
  readonly propagated: string | undefined;
  child(name: string, kind: SpanKind, attributes?: SpanAttributes): Span;
  event(name: string, attributes?: SpanAttributes): void;
  set(attributes: SpanAttributes): void;
  /** `error` is a code or a fault, never a text from outside. Harmless when repeated. */
  end(error?: string): void;
}

/** Begins traces. Undefined spans are not sampled: then nothing more is made for the request. */
export interface Tracing {
  /** Goes on with the caller's trace where `traceparent` names one. */
  request(name: string, traceparent: string | undefined, attributes: SpanAttributes): Span | undefined;
  /** A trace of its own that is linked to the one that caused it, and sampled because that was. */
  linked(name: string, traceparent: string, attributes: SpanAttributes): Span | undefined;
  /** Sends what is gathered, within a bound. */
  close(): Promise<void>;
}

export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Undefined for what is no W3C `traceparent`: then a trace begins here. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

export function formatTraceparent({ traceId, spanId, traceFlags }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}
