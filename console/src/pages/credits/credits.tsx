import { Button } from '@mantine/core';
import { useBalance } from '../../api/account.ts';
import { queryOf } from '../../api/client.ts';
import type { Grant, Transaction } from '../../api/schema.ts';
import { State } from '../../kit/badge.tsx';
import { Figure, Figures } from '../../kit/figures.tsx';
import { dayAfter, FilterDay, Filters, useFilters } from '../../kit/filters.tsx';
import { Page, Panel } from '../../kit/page.tsx';
import { Problem } from '../../kit/states.tsx';
import { Paged, type Pages, Table, usePages } from '../../kit/table.tsx';
import { Credits, Time } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';
import { Entries } from './entries.tsx';

/** The balance, where it came from, and every movement. */
export function CreditsPage() {
  const say = useSay();
  const balance = useBalance(true);
  const available = balance.data?.available;
  // What lies below a list is shown when its height is known, so that nothing moves.
  const grants = usePages<Grant>('/api/console/credits/grants', ({ id }) => id, { limit: 10 });
  return (
    <Page title={say('credits.title')} about={say('credits.about')}>
      {balance.error !== null && <Problem error={balance.error} retry={() => void balance.refetch()} />}
      <Figures>
        <Figure
          label={say('overview.available')}
          value={<Credits value={available} />}
          hint={say('unit.credits')}
          {...(available !== undefined && available <= 0 ? { tone: 'bad' as const } : {})}
        />
        <Figure
          label={say('overview.held')}
          value={<Credits value={balance.data?.reserved} />}
          hint={say('overview.heldAbout')}
        />
        <Figure
          label={say('credits.spent')}
          value={<Credits value={balance.data?.spent} />}
          hint={say('credits.spentAbout')}
        />
      </Figures>
      <Grants pages={grants} />
      {!grants.isPending && <Ledger />}
    </Page>
  );
}

function Grants({ pages }: { readonly pages: Pages<Grant> }) {
  const say = useSay();
  return (
    <Panel title={say('credits.grants')} flush>
      <Paged pages={pages} empty={say('credits.noGrant')}>
        {(rows) => (
          <Table
            label={say('credits.grants')}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              { label: say('credits.time'), cell: ({ created_at }) => <Time at={created_at} /> },
              { label: say('credits.source'), cell: ({ source, reference }) => sourceText(source, reference) },
              { label: say('credits.amount'), end: true, cell: ({ amount }) => <Credits value={amount} /> },
              { label: say('credits.remaining'), end: true, cell: ({ remaining }) => <Credits value={remaining} /> },
              { label: say('credits.expires'), cell: (grant) => <Expiry grant={grant} /> },
            ]}
          />
        )}
      </Paged>
    </Panel>
  );
}

function sourceText(source: string, reference: string | null): string {
  return reference === null ? source : `${source} · ${reference}`;
}

function Expiry({ grant: { expires_at } }: { readonly grant: Grant }) {
  const say = useSay();
  if (expires_at === null) return <span className="soft">{say('credits.never')}</span>;
  return expires_at * 1000 <= Date.now() ? (
    <State tone="bad">{say('credits.expired')}</State>
  ) : (
    <Time at={expires_at} exact />
  );
}

function Ledger() {
  const say = useSay();
  const { values, change, clear } = useFilters(['since', 'until']);
  const isSet = Object.keys(values).length > 0;
  const query = { since: values.since, until: dayAfter(values.until) };
  const path = '/api/console/credits/transactions';
  const entries = usePages<Transaction>(path, ({ id }) => id, { query });
  return (
    <>
      <Filters clear={isSet ? clear : undefined}>
        <FilterDay label={say('filter.since')} value={values.since} change={(since) => change({ since })} />
        <FilterDay label={say('filter.until')} value={values.until} change={(until) => change({ until })} />
      </Filters>
      <Panel
        title={say('credits.ledger')}
        flush
        actions={
          <Button
            component="a"
            href={path + queryOf({ ...query, format: 'csv' })}
            download
            variant="default"
            size="compact-sm"
          >
            {say('action.csv')}
          </Button>
        }
      >
        <Paged pages={entries} empty={say(isSet ? 'filter.nothing' : 'credits.noEntry')}>
          {(rows) => <Entries rows={rows} />}
        </Paged>
      </Panel>
    </>
  );
}
