/**
 * What is seen of a running process from outside: counters that hot paths feed, metrics as Prometheus text and over OTLP,
 * and spans. Hides how series are kept and which libraries export them; these are loaded only where an export is on.
 */
export { type Figure, gauge, type Sample } from './families.ts';
export { MetricsPush } from './otlp-metrics.ts';
export { type Exposition, openExposition } from './prometheus.ts';
export { Signals } from './signals.ts';
export type { Span, Tracing } from './span.ts';
export { openTracing } from './tracing.ts';
