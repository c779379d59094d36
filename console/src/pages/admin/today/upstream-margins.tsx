import { useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { UpstreamUsageReport } from '../../../api/schema.ts';
import { countText } from '../../../kit/format.ts';
import { Panel } from '../../../kit/page.tsx';
import { Empty, Loaded } from '../../../kit/states.tsx';
import { Table } from '../../../kit/table.tsx';
import { Credits } from '../../../kit/values.tsx';
import { useSay, useText } from '../../../text.tsx';
import { firstDay, USAGE_PATH } from './spend.tsx';

const DAYS = 30;
const ROWS_MAX = 10_000;

type Row = UpstreamUsageReport['data'][number];

/** What each upstream brought in and took in the last thirty days. */
export function UpstreamMargins() {
  const say = useSay();
  const query = { group_by: 'upstream', from: firstDay(DAYS), limit: ROWS_MAX };
  const usage = useQuery({
    queryKey: [USAGE_PATH, query],
    queryFn: ({ signal }) => api<UpstreamUsageReport>(USAGE_PATH, { query, signal }),
  });
  return (
    <Panel title={say('today.upstreams')} flush>
      <Loaded query={usage}>
        {({ data }) => (data.length === 0 ? <Empty>{say('overview.nothing')}</Empty> : <Margins rows={data} />)}
      </Loaded>
    </Panel>
  );
}

function Margins({ rows }: { readonly rows: readonly Row[] }) {
  const { say, language } = useText();
  const known = (value: number | null) =>
    value === null ? <span className="soft">{say('state.noData')}</span> : <Credits value={value} />;
  return (
    <Table
      label={say('today.upstreams')}
      rows={rows}
      keyOf={({ group }) => group}
      columns={[
        { label: say('requests.upstream'), cell: ({ group }) => <span className="mono">{group}</span> },
        { label: say('overview.requests'), end: true, cell: ({ requests }) => countText(requests, language) },
        { label: say('overview.credits'), end: true, cell: ({ credits }) => <Credits value={credits} /> },
        { label: say('today.cost'), end: true, cell: ({ cost }) => known(cost) },
        { label: say('today.margin'), end: true, cell: ({ margin }) => known(margin) },
        {
          label: say('today.withoutCost'),
          end: true,
          cell: ({ credits_without_cost }) => <Credits value={credits_without_cost} />,
        },
      ]}
    />
  );
}
