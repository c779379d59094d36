import { Button } from '@mantine/core';
import { queryOf } from '../../api/client.ts';
import type { LoggedRequest } from '../../api/schema.ts';
import { Page, Panel } from '../../kit/page.tsx';
import { Paged, usePages } from '../../kit/table.tsx';
import { useSay } from '../../text.tsx';
import { queryOfFilter, RequestFilters, useRequestFilters } from './request-filters.tsx';
import { RequestTable } from './request-table.tsx';

const PATH = '/api/console/requests';
const FRESH_MS = 15_000;

/** Every request of the account that asked for work. */
export function Activity() {
  const say = useSay();
  const filters = useRequestFilters();
  const query = queryOfFilter(filters.values);
  const pages = usePages<LoggedRequest>(PATH, ({ id }) => id, { query, refetchInterval: FRESH_MS });
  const csv = (
    <Button component="a" variant="default" href={PATH + queryOf({ ...query, format: 'csv' })} download>
      {say('action.csv')}
    </Button>
  );
  return (
    <Page title={say('activity.title')} about={say('activity.about')} actions={csv}>
      <RequestFilters {...filters} />
      <Panel flush>
        <Paged pages={pages} empty={say(filters.isSet ? 'filter.nothing' : 'activity.none')}>
          {(rows) => <RequestTable rows={rows} root="/console/activity" />}
        </Paged>
      </Panel>
    </Page>
  );
}
