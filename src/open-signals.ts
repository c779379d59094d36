import { isIP } from 'node:net';
import { probes } from './db/index.ts';
import { type MetricsDeps, MetricsListener, openMetrics } from './metrics/index.ts';
import { type Exposition, Signals } from './signals/index.ts';

/** What this process tells of itself. What the settings do not turn on is undefined, and its libraries are not loaded. */
export interface OpenSignals {
  readonly writeProbe: probes.WriteProbe;
  readonly schemaProbe: probes.SchemaProbe;
  readonly signals: Signals | undefined;
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
  const { db, log, config, catalogue } = known;
  const writeProbe = new probes.WriteProbe(db, log);
  const off = { signals: undefined, exposition: undefined, metricsUrl: undefined };
  const closed: OpenSignals = { writeProbe, schemaProbe: new probes.SchemaProbe(db), ...off };
  const { port, host, token } = config.signals.metrics;
  if (port === undefined && token === undefined) return closed;
  const signals = new Signals((id) => catalogue.snapshot.has(id));
  const exposition = await openMetrics({ ...known, writeProbe }, signals);
  if (port === undefined) return { ...closed, signals, exposition };
  const listener = new MetricsListener(exposition, token);
  const open = await listener.listen(port, host);
  undo.push(() => listener.close());
  const metricsUrl = `http://${isIP(host) === 6 ? `[${host}]` : host}:${open}/metrics`;
  log.info({ url: metricsUrl }, 'metrics are read here');
  return { ...closed, signals, metricsUrl };
}
