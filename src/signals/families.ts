import { METRIC_SERIES_MAX } from '../limits.ts';

/** A figure of one series: the values of its labels in the family's order. */
export interface Sample {
  readonly labels: readonly string[];
  readonly value: number;
}

/** What a metric is called, in the words of Prometheus. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** Series by the values of their labels. A look-up walks nested maps, so that it allocates nothing for a known series. */
class SeriesMap<Series> {
  readonly all: { readonly labels: readonly string[]; readonly series: Series }[] = [];
  readonly #create: () => Series;
  readonly #root: Branch<Series> = new Map();

  constructor(create: () => Series) {
    this.#create = create;
  }

  at(labels: readonly string[]): Series {
    let branch = this.#root;
    for (let index = 0; index < labels.length - 1; index++) {
      const label = labels[index] ?? '';
      let next = branch.get(label);
      if (!(next instanceof Map)) {
        next = new Map();
        branch.set(label, next);
      }
      branch = next;
    }
    const last = labels[labels.length - 1] ?? '';
    const found = branch.get(last);
    return found === undefined || found instanceof Map ? this.#add(branch, last, labels) : found;
  }

  /** The bound holds memory and scrapes together; what exceeds it is counted in one series. */
  #add(branch: Branch<Series>, last: string, labels: readonly string[]): Series {
    const isOver = this.all.length >= METRIC_SERIES_MAX && labels.some((label) => label !== OVERFLOW);
    if (isOver) return this.at(labels.map(() => OVERFLOW));
    const series = this.#create();
    branch.set(last, series);
    this.all.push({ labels: [...labels], series });
    return series;
  }
}

type Branch<Series> = Map<string, Branch<Series> | Series>;

const OVERFLOW = 'other';

/** Only grows. */
export class Counter implements Figure {
  readonly kind = 'counter';
  readonly family: Family;
  readonly #series = new SeriesMap(() => ({ value: 0 }));

  constructor(family: Family) {
    this.family = family;
  }

  add(amount: number, labels: readonly string[]): void {
    this.#series.at(labels).value += amount;
  }

  read(): readonly Sample[] {
    return this.#series.all.map(({ labels, series }) => ({ labels, value: series.value }));
  }
}

/** What a histogram has counted; `counts[i]` is of values up to `bounds[i]`, the last of all above. */
export interface Distribution {
  readonly labels: readonly string[];
  readonly counts: readonly number[];
  readonly sum: number;
}

/** How values are spread over fixed buckets. */
export class Histogram {
  readonly kind = 'histogram';
  readonly family: Family;
  readonly bounds: readonly number[];
  readonly #series: SeriesMap<{ readonly counts: number[]; sum: number }>;

  constructor(family: Family, bounds: readonly number[]) {
    this.family = family;
    this.bounds = bounds;
    this.#series = new SeriesMap(() => ({ counts: Array<number>(bounds.length + 1).fill(0), sum: 0 }));
  }

  observe(value: number, labels: readonly string[]): void {
    const series = this.#series.at(labels);
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? 0)) bucket++;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
  }

  read(): readonly Distribution[] {
    return this.#series.all.map(({ labels, series }) => ({ labels, counts: [...series.counts], sum: series.sum }));
  }
}

/** A gauge, or a counter that is kept elsewhere: read when it is asked for. */
export interface Figure {
  readonly kind: 'gauge' | 'counter';
  readonly family: Family;
  read(): readonly Sample[];
}

export type Metric = Figure | Histogram;

/** A gauge without labels; undefined while the figure is not known, and then it is not exported. */
export function gauge(name: string, help: string, read: () => number | undefined): Figure {
  const samples = () => {
    const value = read();
    return value === undefined ? [] : [{ labels: [], value }];
  };
  return { kind: 'gauge', family: { name, help, labelNames: [] }, read: samples };
}
