import { useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { UsageReport } from '../../../api/schema.ts';
import { countText } from '../../../kit/format.ts';
import { Panel } from '../../../kit/page.tsx';
import { Empty, Loaded } from '../../../kit/states.tsx';
import { Table } from '../../../kit/table.tsx';
import { Credits } from '../../../kit/values.tsx';
import { useSay, useText } from '../../../text.tsx';
import { AccountLink } from '../account-link.tsx';
import { firstDay, USAGE_PATH } from './spend.tsx';

const DAYS = 30;
const SHOWN = 10;
const ROWS_MAX = 10_000;

type Row = Extract<UsageReport['data'][number], { readonly group: string }>;

/** Who spent the most in the last thirty days. */
export function TopAccounts() {
  const say = useSay();
  const query = { group_by: 'account', from: firstDay(DAYS), limit: ROWS_MAX };
  const usage = useQuery({
    queryKey: [USAGE_PATH, query],
    queryFn: ({ signal }) => api<UsageReport>(USAGE_PATH, { query, signal }),
  });
  return (
    <Panel title={say('today.top')} flush>
      <Loaded query={usage}>
        {({ data }) =>
          data.some(({ credits }) => credits > 0) ? <Ranking rows={data} /> : <Empty>{say('overview.nothing')}</Empty>
        }
      </Loaded>
    </Panel>
  );
}

function Ranking({ rows }: { readonly rows: readonly Row[] }) {
  const { say, language } = useText();
  const spent = rows.filter(({ credits }) => credits > 0);
  const first = spent.toSorted((one, other) => other.credits - one.credits).slice(0, SHOWN);
  return (
    <Table
      label={say('today.top')}
      rows={first}
      keyOf={({ group }) => group}
      columns={[
        { label: say('requests.account'), cell: ({ group }) => <AccountLink id={group} /> },
        { label: say('overview.requests'), end: true, cell: ({ requests }) => countText(requests, language) },
        { label: say('overview.credits'), end: true, cell: ({ credits }) => <Credits value={credits} /> },
      ]}
    />
  );
}
