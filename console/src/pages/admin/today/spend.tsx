import { Box, Button, Group, SegmentedControl, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, queryOf } from '../../../api/client.ts';
import type { UsageReport } from '../../../api/schema.ts';
import { DayChart } from '../../../kit/chart.tsx';
import { useFilters } from '../../../kit/filters.tsx';
import { dayText } from '../../../kit/format.ts';
import { Panel } from '../../../kit/page.tsx';
import { Empty, Loaded } from '../../../kit/states.tsx';
import { Table } from '../../../kit/table.tsx';
import { Credits } from '../../../kit/values.tsx';
import { useSay, useText } from '../../../text.tsx';
import { type DayRow, dayRows, daysBetween, seriesOf, type UsageCell } from '../../overview/usage.ts';
import { useAccountNames } from '../account-link.tsx';

export const USAGE_PATH = '/api/admin/usage';
const SPLITS = ['model', 'account', 'modality', 'endpoint'] as const;
const RANGES = ['7', '30', '90'] as const;
const DAY_MS = 86_400_000;
const ROWS_MAX = 10_000;
/** Of the chart with its legend, so that nothing below it moves when it comes. */
const CHART_HEIGHT = 310;

/** The first day of the last `days`, in UTC. */
export function firstDay(days: number): string {
  return new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
}

/** What all accounts spent on each of the last days, as a chart and as a table. */
export function Spend() {
  const say = useSay();
  const { values, change } = useFilters(['split', 'days']);
  const split = SPLITS.find((one) => one === values.split) ?? 'model';
  const range = RANGES.find((one) => one === values.days) ?? '30';
  const query = { group_by: 'day', split_by: split, from: firstDay(Number(range)), limit: ROWS_MAX };
  const usage = useQuery({
    queryKey: [USAGE_PATH, query],
    queryFn: ({ signal }) => api<UsageReport>(USAGE_PATH, { query, signal }),
  });
  const controls = (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label={say('overview.divide')}
        value={split}
        onChange={(chosen) => change({ split: chosen })}
        data={SPLITS.map((value) => ({ value, label: say(`today.by.${value}`) }))}
      />
      <Select
        size="xs"
        w={120}
        aria-label={say('overview.range')}
        value={range}
        onChange={(chosen) => change({ days: chosen })}
        data={RANGES.map((value) => ({ value, label: say('overview.days', { days: value }) }))}
        allowDeselect={false}
      />
      <Button
        component="a"
        href={USAGE_PATH + queryOf({ ...query, format: 'csv' })}
        download
        variant="default"
        size="compact-sm"
      >
        {say('action.csv')}
      </Button>
    </Group>
  );
  return (
    <Panel title={say('today.spending')} actions={controls}>
      <Box mih={CHART_HEIGHT}>
        <Loaded query={usage} lines={6}>
          {({ data, from, to }) =>
            data.length === 0 ? (
              <Empty>{say('overview.nothing')}</Empty>
            ) : (
              <Days cells={data as readonly UsageCell[]} from={from} to={to} split={split} />
            )
          }
        </Loaded>
      </Box>
    </Panel>
  );
}

interface DaysProps {
  readonly cells: readonly UsageCell[];
  readonly from: number;
  readonly to: number;
  readonly split: (typeof SPLITS)[number];
}

function Days({ cells, from, to, split }: DaysProps) {
  const { say } = useText();
  const names = useAccountNames().data;
  const days = useMemo(() => daysBetween(from, to), [from, to]);
  // What only failed has cost nothing, and is no part of what was spent.
  const series = useMemo(() => {
    const spent = cells.filter(({ credits }) => credits > 0);
    const nameOf = (group: string) => (split === 'account' ? (names?.get(group) ?? group) : group);
    return seriesOf(spent, days, say('overview.others')).map((one) => ({ ...one, name: nameOf(one.name) }));
  }, [cells, days, say, names, split]);
  return (
    <>
      <DayChart label={say('today.spending')} days={days} series={series} />
      <details>
        <summary>{say('overview.byDay')}</summary>
        <ByDay rows={dayRows(cells, days)} />
      </details>
    </>
  );
}

function ByDay({ rows }: { readonly rows: readonly DayRow[] }) {
  const { say, language } = useText();
  const day = (text: string) => dayText(new Date(`${text}T00:00:00Z`), language);
  const noData = <span className="soft">{say('state.noData')}</span>;
  const sumOf = (row: DayRow, field: 'requests' | 'credits' | 'errors') =>
    row.kind === 'gap' ? noData : <Credits value={row.cells.reduce((sum, cell) => sum + (cell[field] ?? 0), 0)} />;
  return (
    <Table
      label={say('overview.byDay')}
      rows={rows}
      keyOf={(row) => (row.kind === 'day' ? row.day : row.from)}
      columns={[
        {
          label: say('overview.day'),
          cell: (row) =>
            row.kind === 'day'
              ? day(row.day)
              : row.from === row.until
                ? day(row.from)
                : `${day(row.from)} – ${day(row.until)}`,
        },
        { label: say('overview.requests'), end: true, cell: (row) => sumOf(row, 'requests') },
        { label: say('today.errors'), end: true, cell: (row) => sumOf(row, 'errors') },
        { label: say('overview.credits'), end: true, cell: (row) => sumOf(row, 'credits') },
      ]}
    />
  );
}
