import { isHttpUrl, withoutTrailingSlashes } from './addresses.ts';
import { METRICS_PUSH_MS_MIN, SLOW_REQUEST_MS_MAX } from './limits.ts';
import type { Secret, Settings } from './settings.ts';

/** How this process is seen from outside. */
export interface SignalSettings {
  readonly metrics: MetricsSettings;
  /** A request that takes at least so long leaves a line of where the time went; 0 leaves none. */
  readonly slowRequestMs: number;
  /** Undefined where the standard `OTEL_*` settings name no receiver, or turn it off. */
  readonly otlp: OtlpSettings | undefined;
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof SAMPLERS)[number];

/** OpenTelemetry over HTTP, by its standard settings. */
export interface OtlpSettings {
  /** Undefined: no traces, or no metrics. */
  readonly tracesUrl: string | undefined;
  readonly metricsUrl: string | undefined;
  readonly headers: () => Record<string, string>;
  readonly sampler: SamplerName;
  readonly samplerRatio: number;
  /** Of the service, with its name. */
  readonly resource: Readonly<Record<string, string>>;
  readonly pushEveryMs: number;
  /** Whether upstreams are sent `traceparent`. */
  readonly toUpstreams: boolean;
}

/** With neither, there are no metrics. */
interface MetricsSettings {
  /** A port of its own; 0 lets the system choose. */
  readonly port: number | undefined;
  readonly host: string;
  /** What a reader proves itself with; without a port of its own, `/metrics` is on the callers' port. */
  readonly token: Secret | undefined;
}

const TOKEN_CHARS_MIN = 16;

export function signalSettings(settings: Settings): SignalSettings {
  const isOpen = settings.optional('TOLLGATE_METRICS_PORT') !== undefined;
  const port = settings.integer('TOLLGATE_METRICS_PORT', 0, 0, 65_535);
  const host = settings.host('TOLLGATE_METRICS_HOST', '127.0.0.1');
  const token = settings.secret('TOLLGATE_METRICS_TOKEN', TOKEN_CHARS_MIN);
  if (!isOpen && settings.optional('TOLLGATE_METRICS_HOST') !== undefined)
    settings.complain('TOLLGATE_METRICS_HOST', 'does nothing without TOLLGATE_METRICS_PORT');
  return {
    metrics: { port: isOpen ? port : undefined, host, token },
    slowRequestMs: settings.integer('TOLLGATE_SLOW_REQUEST_MS', 0, 0, SLOW_REQUEST_MS_MAX),
    otlp: otlpSettings(settings),
  };
}

function otlpSettings(settings: Settings): OtlpSettings | undefined {
  const toUpstreams = settings.flag('TOLLGATE_TRACE_UPSTREAMS');
  const isOff = settings.optional('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  const headers = pairs(
    settings,
    'OTEL_EXPORTER_OTLP_HEADERS',
    settings.secret('OTEL_EXPORTER_OTLP_HEADERS')?.reveal(),
  );
  const attributes = pairs(settings, 'OTEL_RESOURCE_ATTRIBUTES', settings.optional('OTEL_RESOURCE_ATTRIBUTES'));
  const otlp: OtlpSettings = {
    tracesUrl: receiver(settings, 'TRACES'),
    metricsUrl: receiver(settings, 'METRICS'),
    headers: () => headers,
    sampler: settings.choice('OTEL_TRACES_SAMPLER', 'parentbased_always_on', SAMPLERS),
    samplerRatio: ratio(settings, 'OTEL_TRACES_SAMPLER_ARG'),
    resource: {
      ...attributes,
      'service.name': settings.text('OTEL_SERVICE_NAME', attributes['service.name'] ?? 'tollgate'),
    },
    pushEveryMs: settings.integer('OTEL_METRIC_EXPORT_INTERVAL', 60_000, METRICS_PUSH_MS_MIN, 3_600_000),
    toUpstreams,
  };
  // Every receiver that takes the binary form takes JSON at the same address.
  settings.choice('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json', ['http/json']);
  if (isOff || (otlp.tracesUrl ?? otlp.metricsUrl) === undefined) return undefined;
  return otlp;
}

/** The address of its own signal as it is, else the common one with the signal's path. */
function receiver(settings: Settings, signal: 'TRACES' | 'METRICS'): string | undefined {
  const own = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`;
  const [url, common] = [settings.optional(own), settings.optional('OTEL_EXPORTER_OTLP_ENDPOINT')];
  const isOn = settings.choice(`OTEL_${signal}_EXPORTER`, 'otlp', ['otlp', 'none']) === 'otlp';
  const address = url ?? (common && `${withoutTrailingSlashes(common)}/v1/${signal.toLowerCase()}`);
  if (address !== undefined && !isHttpUrl(address))
    settings.complain(url === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : own, 'must be an http or https address');
  return isOn ? address : undefined;
}

/** `name=value,name=value`, each percent-encoded. The values are not repeated in a complaint: they may be secret. */
function pairs(settings: Settings, name: string, text = ''): Record<string, string> {
  try {
    const items = text.split(',').filter((item) => item.trim() !== '');
    return Object.fromEntries(
      items.map((item) => {
        const at = item.indexOf('=');
        if (at < 1) throw new URIError(name);
        return [decodeURIComponent(item.slice(0, at).trim()), decodeURIComponent(item.slice(at + 1).trim())];
      }),
    );
  } catch {
    settings.complain(name, 'must be a comma list of name=value, percent-encoded');
    return {};
  }
}

function ratio(settings: Settings, name: string): number {
  const text = settings.optional(name) ?? '1';
  const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= 1) return value;
  settings.complain(name, `must be a number from 0 to 1, not ${JSON.stringify(text)}`);
  return 1;
}
