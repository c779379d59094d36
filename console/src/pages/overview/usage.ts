import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { UsageReport } from '../../api/schema.ts';
import type { DaySeries } from '../../kit/chart.tsx';
import { SERIES_MAX } from '../../kit/chart.tsx';

const PATH = '/api/console/usage';
const DAY_MS = 86_400_000;
const ROWS_MAX = 10_000;

export const SPLITS = ['model', 'key', 'modality', 'endpoint'] as const;
export type Split = (typeof SPLITS)[number];

/** A day's part, as the report has it with `split_by`. */
export interface UsageCell {
  readonly day: string;
  readonly group: string;
  readonly requests: number;
  readonly credits: number;
  readonly errors: number | null;
}

/** What was spent on each day since the first of the month. */
export function useSpentByDay() {
  const from = `${new Date().toISOString().slice(0, 7)}-01`;
  const { data } = useQuery({
    queryKey: [PATH, 'month', from],
    queryFn: ({ signal }) => api<UsageReport>(PATH, { query: { group_by: 'day', from }, signal }),
    refetchInterval: 60_000,
  });
  return (
    data && {
      /** From this day on. The ledger is whole, so that a day without an entry is a day on which nothing was spent. */
      since: (day: string) =>
        data.data.filter(({ group }) => group >= day).reduce((sum, { credits }) => sum + credits, 0),
    }
  );
}

/** What was spent on each of the last days, divided. */
export function useUsage(split: Split, days: number) {
  const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  const query = { group_by: 'day', split_by: split, from, limit: ROWS_MAX };
  return useQuery({
    queryKey: [PATH, query],
    queryFn: async ({ signal }) => {
      const report = await api<UsageReport>(PATH, { query, signal });
      return { ...report, data: report.data as readonly UsageCell[] };
    },
    refetchInterval: 60_000,
  });
}

/** Every UTC day from one moment to another, in Unix seconds. */
export function daysBetween(from: number, to: number): readonly string[] {
  const first = Math.floor((from * 1000) / DAY_MS);
  const last = Math.floor((to * 1000) / DAY_MS);
  return Array.from({ length: last - first + 1 }, (_none, index) =>
    new Date((first + index) * DAY_MS).toISOString().slice(0, 10),
  );
}

/** The parts that spent anything, the most first, each with its value by day. What is beyond the colours is added up as `others`. */
export function seriesOf(cells: readonly UsageCell[], days: readonly string[], others: string): readonly DaySeries[] {
  const sums = new Map<string, number>();
  for (const { group, credits } of cells) sums.set(group, (sums.get(group) ?? 0) + credits);
  const paid = [...sums].filter(([, sum]) => sum > 0);
  const groups = paid.sort(([, one], [, other]) => other - one).map(([group]) => group);
  const isWhole = groups.length <= SERIES_MAX;
  const shown = isWhole ? groups : groups.slice(0, SERIES_MAX - 1);
  const names = isWhole ? shown : [...shown, others];
  const values = new Map(names.map((name) => [name, days.map((): number | null => null)]));
  const places = new Map(days.map((day, index) => [day, index]));
  for (const { day, group, credits } of cells) {
    const place = places.get(day);
    const row = values.get(shown.includes(group) ? group : credits > 0 ? others : '');
    if (place !== undefined && row !== undefined) row[place] = (row[place] ?? 0) + credits;
  }
  return names.map((name) => ({ name, values: values.get(name) ?? [] }));
}

/** One day that has data, or days without any. */
export type DayRow =
  | { readonly kind: 'day'; readonly day: string; readonly cells: readonly UsageCell[] }
  | { readonly kind: 'gap'; readonly from: string; readonly until: string };

/** Newest first. */
export function dayRows(cells: readonly UsageCell[], days: readonly string[]): readonly DayRow[] {
  const byDay = Map.groupBy(cells, ({ day }) => day);
  const rows: DayRow[] = [];
  for (const day of days.toReversed()) {
    const found = byDay.get(day);
    const last = rows.at(-1);
    if (found !== undefined) rows.push({ kind: 'day', day, cells: found });
    else if (last?.kind === 'gap') rows[rows.length - 1] = { ...last, from: day };
    else rows.push({ kind: 'gap', from: day, until: day });
  }
  return rows;
}
