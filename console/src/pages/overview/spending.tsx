import { Button, Center, Group, SegmentedControl, Select } from '@mantine/core';
import { useCallback, useMemo, useState } from 'react';
import { useKeyNames } from '../../api/account.ts';
import { queryOf } from '../../api/client.ts';
import { DayChart } from '../../kit/chart.tsx';
import { useFilters } from '../../kit/filters.tsx';
import { dayText } from '../../kit/format.ts';
import { Panel } from '../../kit/page.tsx';
import { Empty, Loaded } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { Credits } from '../../kit/values.tsx';
import { useText } from '../../text.tsx';
import { type DayRow, dayRows, daysBetween, SPLITS, type Split, seriesOf, type UsageCell, useUsage } from './usage.ts';

const RANGES = ['7', '30', '90'] as const;
const RANGE_UNSTATED = '30';
const ROWS_SHOWN = 10;

/** The last days as a chart and as a table, divided as the address says. */
export function Spending() {
  const { say } = useText();
  const { values, change } = useFilters(['split', 'days']);
  const split = SPLITS.find((one) => one === values.split) ?? 'model';
  const range = RANGES.find((one) => one === values.days) ?? RANGE_UNSTATED;
  const usage = useUsage(split, Number(range));
  const nameOf = useGroupNames(split);
  const controls = (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label={say('overview.divide')}
        value={split}
        onChange={(chosen) => change({ split: chosen })}
        data={SPLITS.map((value) => ({ value, label: say(`overview.by.${value}`) }))}
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
    </Group>
  );
  return (
    <>
      <Panel title={say('overview.spending')} actions={controls}>
        <Loaded query={usage} lines={6}>
          {({ data, from, to }) =>
            data.length === 0 ? (
              <Empty>{say('overview.nothing')}</Empty>
            ) : (
              <Chart cells={data} from={from} to={to} nameOf={nameOf} />
            )
          }
        </Loaded>
      </Panel>
      {usage.data !== undefined && usage.data.data.length > 0 && (
        <ByDay cells={usage.data.data} from={usage.data.from} to={usage.data.to} nameOf={nameOf} split={split} />
      )}
    </>
  );
}

interface FiguresProps {
  readonly cells: readonly UsageCell[];
  readonly from: number;
  readonly to: number;
  readonly nameOf: (group: string) => string;
}

function Chart({ cells, from, to, nameOf }: FiguresProps) {
  const { say } = useText();
  const days = useMemo(() => daysBetween(from, to), [from, to]);
  const series = useMemo(
    () => seriesOf(cells, days, say('overview.others')).map((one) => ({ ...one, name: nameOf(one.name) })),
    [cells, days, say, nameOf],
  );
  return <DayChart label={say('overview.chart')} days={days} series={series} />;
}

/** The same figures in words. */
function ByDay({ cells, from, to, nameOf, split }: FiguresProps & { readonly split: Split }) {
  const { say, language } = useText();
  const [isWhole, setWhole] = useState(false);
  const day = (text: string) => dayText(new Date(`${text}T00:00:00Z`), language);
  const dayOf = (row: DayRow) => {
    if (row.kind === 'day') return day(row.day);
    return row.from === row.until ? day(row.from) : `${day(row.from)} – ${day(row.until)}`;
  };
  const noData = <span className="soft">{say('state.noData')}</span>;
  const sumOf = (row: DayRow, field: 'requests' | 'credits') =>
    row.kind === 'gap' ? noData : <Credits value={row.cells.reduce((sum, cell) => sum + cell[field], 0)} />;
  const rows = dayRows(cells, daysBetween(from, to));
  const csv = `/api/console/usage${queryOf({ group_by: 'day', split_by: split, from, format: 'csv', limit: 10_000 })}`;
  return (
    <Panel
      title={say('overview.byDay')}
      flush
      actions={
        <Button component="a" href={csv} download variant="default" size="compact-sm">
          {say('action.csv')}
        </Button>
      }
    >
      <Table
        label={say('overview.byDay')}
        rows={isWhole ? rows : rows.slice(0, ROWS_SHOWN)}
        keyOf={(row) => (row.kind === 'day' ? row.day : row.from)}
        columns={[
          { label: say('overview.day'), cell: (row) => <span className="num">{dayOf(row)}</span> },
          { label: say('overview.requests'), end: true, cell: (row) => sumOf(row, 'requests') },
          { label: say('overview.errors'), end: true, cell: (row) => errorsOf(row) ?? noData },
          { label: say('overview.credits'), end: true, cell: (row) => sumOf(row, 'credits') },
          {
            label: say(`overview.by.${split}`),
            cell: (row) =>
              row.kind === 'gap' ? (
                noData
              ) : (
                <Group gap="md" component="ul" className="legend">
                  {row.cells.filter(isPaid).map((cell) => (
                    <li key={cell.group}>
                      <span className="mono">{nameOf(cell.group)}</span> <Credits value={cell.credits} />
                    </li>
                  ))}
                </Group>
              ),
          },
        ]}
      />
      {!isWhole && rows.length > ROWS_SHOWN && (
        <Center p="md">
          <Button variant="default" onClick={() => setWhole(true)}>
            {say('state.more')}
          </Button>
        </Center>
      )}
    </Panel>
  );
}

function isPaid({ credits }: UsageCell): boolean {
  return credits > 0;
}

/** Undefined where the request log does not reach so far back. */
function errorsOf(row: DayRow): number | undefined {
  if (row.kind === 'gap' || row.cells.some(({ errors }) => errors === null)) return undefined;
  return row.cells.reduce((sum, { errors }) => sum + (errors ?? 0), 0);
}

/** Keys are told by name. */
function useGroupNames(split: Split): (group: string) => string {
  const { say } = useText();
  const names = useKeyNames();
  return useCallback(
    (group) => {
      if (split !== 'key') return group;
      return group === 'console' ? say('activity.console') : (names.get(group) ?? group);
    },
    [split, say, names],
  );
}
