import { isIP } from 'node:net';
import { probes } from './db/index.ts';
import { type MetricsDeps, MetricsListener, openMetrics } from './metrics/index.ts';
import { type Exposition, MetricsPush, openTracing, Signals, type Tracing } from './signals/index.ts';

/** What this process tells of itself. What the settings do not turn on is undefined, and its libraries are not loaded. */
export interface OpenSignals {
  readonly writeProbe: probes.WriteProbe;
  readonly schemaProbe: probes.SchemaProbe;
  readonly signals: Signals | undefined;
  readonly tracing: Tracing | undefined;
  /** Where it is read on the callers' port. */
  readonly exposition: Exposition | undefined;
  /** Where it is read on a port of its own. */
  readonly metricsUrl: string | undefined;
}

/** `undo` is given what closes it. */
export async function openSignals(
  known: Omit<MetricsDeps, 'writeProbe'>,
  undo: (() => Promise<unknown>)[],
): Promise<OpenSignals> {
  const { db, log, config, version } = known;
  const writeProbe = new probes.WriteProbe(db, log);
  const { otlp } = config.signals;
  const resource = { 'service.version': version, 'service.instance.id': known.bus.processId, ...otlp?.resource };
  const tracing = otlp?.tracesUrl === undefined ? undefined : await openTracing(otlp, resource, otlp.tracesUrl);
  if (tracing !== undefined) undo.push(() => tracing.close());
  const exported = await openExports({ ...known, writeProbe }, resource, undo);
  return { writeProbe, schemaProbe: new probes.SchemaProbe(db), tracing, ...exported };
}

/** One set of metrics, by whichever ways the settings turn on. */
async function openExports(
  deps: MetricsDeps,
  resource: Readonly<Record<string, string>>,
  undo: (() => Promise<unknown>)[],
): Promise<Pick<OpenSignals, 'signals' | 'exposition' | 'metricsUrl'>> {
  const { metrics, otlp } = deps.config.signals;
  const { port, host, token } = metrics;
  const pushUrl = otlp?.metricsUrl;
  if (port === undefined && token === undefined && pushUrl === undefined)
    return { signals: undefined, exposition: undefined, metricsUrl: undefined };
  const signals = new Signals((id) => deps.catalogue.snapshot.has(id));
  const exposition = await openMetrics(deps, signals);
  if (otlp !== undefined && pushUrl !== undefined) {
    const push = new MetricsPush(exposition, { ...otlp, url: pushUrl, resource, log: deps.log });
    undo.push(() => push.close());
  }
  if (port === undefined) return { signals, exposition: token && exposition, metricsUrl: undefined };
  const listener = new MetricsListener(exposition, token);
  const open = await listener.listen(port, host);
  undo.push(() => listener.close());
  const metricsUrl = `http://${isIP(host) === 6 ? `[${host}]` : host}:${open}/metrics`;
  deps.log.info({ url: metricsUrl }, 'metrics are read here');
  return { signals, exposition: undefined, metricsUrl };
}
