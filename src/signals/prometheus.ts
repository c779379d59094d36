import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import type { Distribution, Figure, Histogram, Metric } from './families.ts';

/** What Prometheus reads, and what the same figures are as data for other exporters. */
export interface Exposition {
  readonly contentType: string;
  text(): Promise<string>;
  data(): Promise<readonly MetricObjectWithValues<MetricValue<string>>[]>;
}

/**
 * Metrics as Prometheus text, the library's own of process and runtime included. The library writes and collects; hot
 * paths count in `families.ts`, because its counters hash an object of labels for each increment. `refresh` runs before each
 * reading.
 */
export async function openExposition(metrics: readonly Metric[], refresh: () => Promise<void>): Promise<Exposition> {
  const library = await import('prom-client');
  const { collectDefaultMetrics, Counter: PromCounter, Gauge: PromGauge, Histogram: PromHistogram, Registry } = library;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

  class HistogramView extends PromHistogram {
    readonly #metric: Histogram;

    constructor(metric: Histogram) {
      super({ ...metric.family, registers: [registry] });
      this.#metric = metric;
    }

    /** What both the library's text and its data are made of. */
    async getForPromString(): Promise<object> {
      const { name, help } = this.#metric.family;
      const values = this.#metric.read().flatMap((one) => bucketsOf(this.#metric, one));
      return { name, help, type: 'histogram', aggregator: 'sum', values };
    }
  }

  /** The library's own exports 0 for a figure that is not known. */
  class GaugeView extends PromGauge {
    readonly #metric: Figure;

    constructor(metric: Figure) {
      super({ ...metric.family, registers: [registry] });
      this.#metric = metric;
    }

    override async get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
      return { ...(await super.get()), values: samplesOf(this.#metric) };
    }
  }

  for (const metric of metrics) {
    const registered = { ...metric.family, registers: [registry] };
    if (metric.kind === 'histogram') new HistogramView(metric);
    else if (metric.kind === 'counter') {
      new PromCounter({
        ...registered,
        collect() {
          this.reset();
          for (const { labels, value } of samplesOf(metric)) this.inc(labels, value);
        },
      });
    } else {
      new GaugeView(metric);
    }
  }
  return {
    contentType: registry.contentType,
    text: async () => {
      await refresh();
      return registry.metrics();
    },
    data: async () => {
      await refresh();
      return registry.getMetricsAsJSON();
    },
  };
}

function samplesOf(metric: Figure): MetricValue<string>[] {
  const { labelNames } = metric.family;
  return metric.read().map(({ labels, value }) => ({ labels: named(labelNames, labels), value }));
}

/** Cumulative, as Prometheus wants them. */
function bucketsOf({ family, bounds }: Histogram, { labels, counts, sum }: Distribution): object[] {
  const own = named(family.labelNames, labels);
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    return {
      metricName: `${family.name}_bucket`,
      labels: { le: bounds[index] ?? '+Inf' },
      sharedLabels: own,
      value: total,
    };
  });
  return [
    ...buckets,
    { metricName: `${family.name}_sum`, labels: {}, sharedLabels: own, value: sum },
    { metricName: `${family.name}_count`, labels: {}, sharedLabels: own, value: total },
  ];
}

function named(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}
