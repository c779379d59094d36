import { Button, Text } from '@mantine/core';
import { queryOf } from '../../../api/client.ts';
import { LOGGED_ENDPOINTS } from '../../../api/endpoints.ts';
import type { RequestRecord } from '../../../api/schema.ts';
import { dayAfter, FilterDay, FilterSelect, Filters, FilterText, useFilters } from '../../../kit/filters.tsx';
import { Page, Panel } from '../../../kit/page.tsx';
import { Paged, usePages } from '../../../kit/table.tsx';
import { useSay } from '../../../text.tsx';
import { RequestTable } from '../../activity/request-table.tsx';
import { AccountLink, WithAccountNames } from '../account-link.tsx';

export const REQUESTS_PATH = '/api/admin/requests';
const REFRESH_MS = 15_000;
const NAMES = ['since', 'until', 'status', 'endpoint', 'account', 'key', 'model', 'code', 'request_id'] as const;

/** The requests of all accounts, with the upstream that answered each. */
export function Requests() {
  const say = useSay();
  const { values } = useFilters(NAMES);
  const query = { ...values, until: dayAfter(values.until) };
  const pages = usePages<RequestRecord>(REQUESTS_PATH, ({ id }) => id, { query, refetchInterval: REFRESH_MS });
  const csv = (
    <Button component="a" variant="default" href={REQUESTS_PATH + queryOf({ ...query, format: 'csv' })} download>
      {say('action.csv')}
    </Button>
  );
  return (
    <Page title={say('requests.title')} about={say('requests.about')} actions={csv}>
      <RequestFilters />
      <Panel flush>
        <WithAccountNames>
          <Paged pages={pages} empty={say(Object.keys(values).length > 0 ? 'filter.nothing' : 'requests.none')}>
            {(rows) => (
              <RequestTable
                rows={rows}
                root="/console/admin/requests"
                columns={[{ label: say('requests.account'), cell: (row) => <Whose row={row} /> }]}
              />
            )}
          </Paged>
        </WithAccountNames>
      </Panel>
    </Page>
  );
}

/** The account, and the upstream that was asked last. */
function Whose({ row }: { readonly row: RequestRecord }) {
  return (
    <>
      <AccountLink id={row.account_id} />
      {row.upstream !== null && (
        <Text size="xs" className="soft mono">
          {row.upstream}
        </Text>
      )}
    </>
  );
}

function RequestFilters() {
  const say = useSay();
  const { values, of, clear } = useFilters(NAMES);
  return (
    <Filters clear={Object.keys(values).length === 0 ? undefined : clear}>
      <FilterDay label={say('filter.since')} {...of('since')} />
      <FilterDay label={say('filter.until')} {...of('until')} />
      <FilterSelect
        label={say('activity.outcome')}
        {...of('status')}
        options={(['ok', 'error'] as const).map((value) => ({ value, label: say(`activity.${value}`) }))}
      />
      <FilterSelect
        label={say('activity.route')}
        {...of('endpoint')}
        options={LOGGED_ENDPOINTS.map((value) => ({ value, label: value }))}
      />
      <FilterText label={say('requests.account')} {...of('account')} />
      <FilterText label={say('activity.key')} {...of('key')} />
      <FilterText label={say('activity.model')} {...of('model')} />
      <FilterText label={say('activity.code')} {...of('code')} />
      <FilterText label={say('activity.requestId')} {...of('request_id')} />
    </Filters>
  );
}
