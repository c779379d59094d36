import { request } from 'undici';
import { systemClock } from '../clock.ts';
import { SPANS_EXPORT_MS_MAX } from '../limits.ts';
import type { Logger } from '../log.ts';
import type { OtlpSettings } from '../signal-settings.ts';
import type { Exposition } from './prometheus.ts';

interface PushOptions extends Pick<OtlpSettings, 'headers' | 'pushEveryMs'> {
  readonly url: string;
  readonly resource: Readonly<Record<string, string>>;
  readonly log: Logger;
}

type Metric = Awaited<ReturnType<Exposition['data']>>[number];
type Point = Metric['values'][number] & { readonly metricName?: string };

/**
 * Pushes the metrics over OTLP every so often: cumulative, one push at a time, and nothing is kept of one that fails,
 * because the next has it all.
 */
export class MetricsPush {
  readonly #exposition: Exposition;
  readonly #options: PushOptions;
  readonly #startNano = nanosOf(systemClock.nowMs());
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #isFailing = false;

  constructor(exposition: Exposition, options: PushOptions) {
    this.#exposition = exposition;
    this.#options = options;
    this.#timer = setInterval(() => void this.push(), options.pushEveryMs).unref();
  }

  push(): Promise<void> {
    this.#running ??= this.#send().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Pushes once more. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
    await this.push();
  }

  async #send(): Promise<void> {
    const { url, headers, log } = this.#options;
    try {
      const body = JSON.stringify(this.#document(await this.#exposition.data()));
      const { statusCode, body: answer } = await request(url, {
        method: 'POST',
        headers: { ...headers(), 'content-type': 'application/json' },
        body,
        headersTimeout: SPANS_EXPORT_MS_MAX,
        bodyTimeout: SPANS_EXPORT_MS_MAX,
        signal: AbortSignal.timeout(SPANS_EXPORT_MS_MAX),
      });
      await answer.dump();
      if (statusCode >= 300) throw new Error(`status ${statusCode}`);
      this.#isFailing = false;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.#isFailing) log.warn({ reason }, 'metrics could not be pushed; told once until it works again');
      this.#isFailing = true;
    }
  }

  #document(metrics: readonly Metric[]): object {
    const timeUnixNano = nanosOf(systemClock.nowMs());
    const times = { startTimeUnixNano: this.#startNano, timeUnixNano };
    return {
      resourceMetrics: [
        {
          resource: { attributes: keyValues(this.#options.resource) },
          scopeMetrics: [{ scope: { name: 'tollgate' }, metrics: metrics.flatMap((metric) => otlpOf(metric, times)) }],
        },
      ],
    };
  }
}

const CUMULATIVE = 2;

function otlpOf(metric: Metric, times: object): object[] {
  const { name, help: description } = metric;
  // The library says these as words, whatever its types say.
  const kind = String(metric.type);
  if (kind === 'histogram') return histogramOf(metric, times);
  const dataPoints = metric.values.map(({ labels, value }) => ({
    ...times,
    attributes: keyValues(labels),
    asDouble: value,
  }));
  if (kind === 'counter')
    return [{ name, description, sum: { dataPoints, isMonotonic: true, aggregationTemporality: CUMULATIVE } }];
  return kind === 'gauge' ? [{ name, description, gauge: { dataPoints } }] : [];
}

/** Cumulative buckets in a row, then sum and count, become one point for each set of labels. */
function histogramOf({ name, help: description, values }: Metric, times: object): object[] {
  const series = new Map<string, Point[]>();
  for (const point of values) {
    const { le: _, ...own } = point.labels;
    const key = JSON.stringify(own);
    const points = series.get(key);
    if (points === undefined) series.set(key, [point]);
    else points.push(point);
  }
  const dataPoints = [...series].map(([key, points]) => {
    const buckets = points.filter(({ labels }) => labels.le !== undefined);
    const counts = buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0));
    const figure = (suffix: string) => points.find(({ metricName }) => metricName === name + suffix)?.value ?? 0;
    return {
      ...times,
      attributes: keyValues(JSON.parse(key)),
      count: String(figure('_count')),
      sum: figure('_sum'),
      explicitBounds: buckets.slice(0, -1).map(({ labels }) => Number(labels.le)),
      bucketCounts: counts.map(String),
    };
  });
  return [{ name, description, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } }];
}

function keyValues(labels: object): object[] {
  return Object.entries(labels).map(([key, value]) => ({ key, value: { stringValue: String(value) } }));
}

/** A 64-bit integer, as text. */
function nanosOf(ms: number): string {
  return `${BigInt(Math.round(ms * 1000)) * 1000n}`;
}
