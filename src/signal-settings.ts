import { SLOW_REQUEST_MS_MAX } from './limits.ts';
import type { Secret, Settings } from './settings.ts';

/** How this process is seen from outside. */
export interface SignalSettings {
  readonly metrics: MetricsSettings;
  /** A request that takes at least so long leaves a line of where the time went; 0 leaves none. */
  readonly slowRequestMs: number;
}

/** With neither, there are no metrics. */
export interface MetricsSettings {
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
  };
}
