import type { Attributes, Context, Link, Span as OtelSpan, SpanContext, Tracer } from '@opentelemetry/api';
import type { Sampler, SamplingResult, TracerConfig } from '@opentelemetry/sdk-trace-node';
import { SPANS_EXPORT_MS_MAX, TRACING_CLOSE_MS_MAX } from '../limits.ts';
import type { OtlpSettings, SamplerName } from '../signal-settings.ts';
import {
  formatTraceparent,
  parseTraceparent,
  type Span,
  type SpanAttributes,
  type SpanKind,
  type Tracing,
} from './span.ts';

type Api = typeof import('@opentelemetry/api');
type Sdk = typeof import('@opentelemetry/sdk-trace-node');

interface Library {
  readonly api: Api;
  readonly tracer: Tracer;
  /** Whether upstreams are told of the trace. */
  readonly propagates: boolean;
}

/**
 * Traces over OTLP. Spans are made by hand where a request changes hands and are passed on as values: nothing is patched,
 * and no context hangs on asynchronous calls. Spans wait in a queue of bounded size; with the receiver away or slow the
 * queue fills and what comes after is dropped, and no request waits.
 */
export async function openTracing(settings: OtlpSettings, resource: Attributes, url: string): Promise<Tracing> {
  const [api, sdk, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const headers = settings.headers();
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: SPANS_EXPORT_MS_MAX });
  const processor = new sdk.BatchSpanProcessor(exporter);
  const sampler = new LinkSampler(sdk, samplerOf(sdk, settings.sampler, settings.samplerRatio));
  const provider = new sdk.BasicTracerProvider({
    sampler,
    resource: asResource(resource),
    spanProcessors: [processor],
  });
  const library = { api, tracer: provider.getTracer('tollgate'), propagates: settings.toUpstreams };
  const begin = (name: string, kind: SpanKind, attributes: SpanAttributes, parent: Context, links: Link[]) => {
    const options = { kind: kindOf(api, kind), attributes: present(attributes), links };
    const span = library.tracer.startSpan(name, options, parent);
    return span.isRecording() ? new OpenSpan(library, span, parent) : undefined;
  };
  return {
    request: (name, traceparent, attributes) => {
      const remote = parseTraceparent(traceparent);
      const root = api.ROOT_CONTEXT;
      const parent = remote === undefined ? root : api.trace.setSpanContext(root, { ...remote, isRemote: true });
      return begin(name, 'server', attributes, parent, []);
    },
    linked: (name, traceparent, attributes) => {
      const context = parseTraceparent(traceparent);
      if (context === undefined) return undefined;
      return begin(name, 'internal', attributes, api.ROOT_CONTEXT, [{ context }]);
    },
    close: async () => {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, TRACING_CLOSE_MS_MAX);
      await Promise.race([provider.shutdown().catch(() => undefined), late.promise]);
      clearTimeout(timer);
    },
  };
}

class OpenSpan implements Span {
  readonly #library: Library;
  readonly #span: OtelSpan;
  readonly #context: Context;

  constructor(library: Library, span: OtelSpan, parent: Context) {
    this.#library = library;
    this.#span = span;
    this.#context = library.api.trace.setSpan(parent, span);
  }

  get traceparent(): string {
    return formatTraceparent(this.#span.spanContext());
  }

  get propagated(): string | undefined {
    return this.#library.propagates ? this.traceparent : undefined;
  }

  child(name: string, kind: SpanKind, attributes: SpanAttributes = {}): Span {
    const { api, tracer } = this.#library;
    const options = { kind: kindOf(api, kind), attributes: present(attributes) };
    return new OpenSpan(this.#library, tracer.startSpan(name, options, this.#context), this.#context);
  }

  event(name: string, attributes: SpanAttributes = {}): void {
    this.#span.addEvent(name, present(attributes));
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(present(attributes));
  }

  end(error?: string): void {
    if (!this.#span.isRecording()) return;
    if (error !== undefined) {
      this.#span.setAttribute('error.type', error);
      this.#span.setStatus({ code: this.#library.api.SpanStatusCode.ERROR, message: error });
    }
    this.#span.end();
  }
}

/** What a sampled request has caused is sampled too: with a ratio, its later steps would be lost almost always. */
class LinkSampler implements Sampler {
  readonly #sdk: Sdk;
  readonly #otherwise: Sampler;

  constructor(sdk: Sdk, otherwise: Sampler) {
    this.#sdk = sdk;
    this.#otherwise = otherwise;
  }

  shouldSample(...asked: Parameters<Sampler['shouldSample']>): SamplingResult {
    const [, , , , , links] = asked;
    if (links.some(({ context }) => isSampled(context))) {
      return { decision: this.#sdk.SamplingDecision.RECORD_AND_SAMPLED };
    }
    return this.#otherwise.shouldSample(...asked);
  }
}

function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & 1) === 1;
}

function samplerOf(sdk: Sdk, name: SamplerName, ratio: number): Sampler {
  switch (name) {
    case 'always_on':
      return new sdk.AlwaysOnSampler();
    case 'always_off':
      return new sdk.AlwaysOffSampler();
    case 'traceidratio':
      return new sdk.TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(ratio) });
  }
}

function kindOf({ SpanKind: kinds }: Api, kind: SpanKind) {
  return { server: kinds.SERVER, client: kinds.CLIENT, internal: kinds.INTERNAL }[kind];
}

function present(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** The package that makes these comes in two versions with the exporter and the SDK; both read no more than this. */
function asResource(attributes: Attributes): NonNullable<TracerConfig['resource']> {
  return {
    attributes,
    merge: (other) => other ?? asResource(attributes),
    getRawAttributes: () => Object.entries(attributes),
  };
}
