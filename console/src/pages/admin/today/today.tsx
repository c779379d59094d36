import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Overview } from '../../../api/schema.ts';
import { State } from '../../../kit/badge.tsx';
import { Figure, Figures } from '../../../kit/figures.tsx';
import { countText, durationText } from '../../../kit/format.ts';
import { Page, Panel } from '../../../kit/page.tsx';
import { Loaded } from '../../../kit/states.tsx';
import { Table } from '../../../kit/table.tsx';
import { Credits, Time } from '../../../kit/values.tsx';
import { useSay, useText } from '../../../text.tsx';
import { WithAccountNames } from '../account-link.tsx';
import { useOverview } from './overview.ts';
import { Spend } from './spend.tsx';
import { TopAccounts } from './top-accounts.tsx';
import { UpstreamMargins } from './upstream-margins.tsx';

/** What an operator looks at first: is something wrong, and how is today. */
export function Today() {
  const say = useSay();
  return (
    <Page title={say('today.title')} about={say('today.about')}>
      <Loaded query={useOverview()} lines={6}>
        {(overview) => (
          <>
            <Trouble overview={overview} />
            <Traffic overview={overview} />
            <Work overview={overview} />
            <Spend />
            <WithAccountNames>
              <TopAccounts />
            </WithAccountNames>
            <UpstreamMargins />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Traffic({ overview }: { readonly overview: Overview }) {
  const { say, language } = useText();
  const share = overview.requests === 0 ? 0 : (100 * overview.errors) / overview.requests;
  return (
    <Figures>
      <Figure
        label={say('today.requests')}
        value={countText(overview.requests, language)}
        hint={<PlaceLink to="/console/admin/requests">{say('today.since')}</PlaceLink>}
      />
      <Figure
        label={say('today.errors')}
        value={countText(overview.errors, language)}
        hint={
          <PlaceLink to="/console/admin/requests" search={{ status: 'error' }}>
            {say('today.share', { percent: share.toLocaleString(language, { maximumFractionDigits: 1 }) })}
          </PlaceLink>
        }
        {...(overview.errors > 0 ? { tone: 'warn' as const } : {})}
      />
      <Figure
        label={say('today.spent')}
        value={<Credits value={overview.credits_charged} />}
        hint={
          <>
            <Credits value={overview.credits_held} /> {say('today.held')}
          </>
        }
      />
      <Figure
        label={say('today.margin')}
        value={overview.margin === null ? say('state.noData') : <Credits value={overview.margin} />}
        hint={say(overview.margin === null ? 'today.marginUnknown' : 'unit.credits')}
      />
    </Figures>
  );
}

function Work({ overview }: { readonly overview: Overview }) {
  const { say, language } = useText();
  const open = overview.jobs.reduce((sum, { count }) => sum + count, 0);
  const age = overview.oldest_queued_job_age_s;
  const { books, accounts } = overview;
  return (
    <Figures>
      <Figure
        label={say('today.openJobs')}
        value={countText(open, language)}
        hint={
          <PlaceLink to="/console/admin/jobs">
            {overview.jobs.map(({ kind, status, count }) => `${count} ${kind} ${status}`).join(', ') ||
              say('today.noJobs')}
          </PlaceLink>
        }
      />
      <Figure
        label={say('today.backlog')}
        value={age === null ? say('today.noBacklog') : durationText(age * 1000, language)}
        hint={say('today.transcriptions', { count: overview.transcriptions })}
      />
      <Figure
        label={say('today.books')}
        value={books === null ? say('state.noData') : say(books.balanced ? 'books.balanced' : 'books.differs')}
        hint={
          <PlaceLink to="/console/admin/books">
            {books === null ? say('books.never') : <Time at={books.checked_at} />}
          </PlaceLink>
        }
        {...(books === null ? {} : { tone: books.balanced ? ('good' as const) : ('bad' as const) })}
      />
      <Figure
        label={say('today.accounts')}
        value={countText(accounts.total, language)}
        hint={
          <PlaceLink to="/console/admin/accounts">
            {say('today.suspended', { count: countText(accounts.suspended, language) })}
          </PlaceLink>
        }
      />
    </Figures>
  );
}

interface PlaceLinkProps {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly children: ReactNode;
}

function PlaceLink({ to, search = {}, children }: PlaceLinkProps) {
  return (
    <Link to={to} search={search}>
      {children}
    </Link>
  );
}

interface TroubleRow {
  readonly key: string;
  readonly what: ReactNode;
  readonly state: string;
  readonly to: string;
  readonly link: string;
}

/** Only what needs a hand; a quiet day shows nothing here. */
function Trouble({ overview }: { readonly overview: Overview }) {
  const say = useSay();
  const rows = useTrouble(overview);
  if (rows.length === 0) {
    return (
      <Text size="sm" role="status">
        <State tone="good">{say('today.allWell')}</State> {say('today.allWellAbout')}
      </Text>
    );
  }
  return (
    <Panel title={say('today.trouble')} flush>
      <Table
        label={say('today.trouble')}
        rows={rows}
        keyOf={({ key }) => key}
        columns={[
          { label: say('today.what'), cell: ({ what }) => what },
          { label: say('today.state'), cell: ({ state }) => <State tone="bad">{state}</State> },
          { label: say('today.look'), end: true, cell: ({ to, link }) => <PlaceLink to={to}>{link}</PlaceLink> },
        ]}
      />
    </Panel>
  );
}

function useTrouble(overview: Overview): readonly TroubleRow[] {
  const say = useSay();
  const upstreams = { to: '/console/admin/upstreams', link: say('nav.upstreams') };
  const books = { to: '/console/admin/books', link: say('nav.books') };
  return [
    ...overview.models_without_candidate.map((model) => ({
      key: `model ${model}`,
      what: <span className="mono">{model}</span>,
      state: say('today.noCandidate'),
      ...upstreams,
    })),
    ...overview.open_breakers.map(({ upstream_id, model }) => ({
      key: `breaker ${upstream_id} ${model ?? ''}`,
      what: <span className="mono">{model === null ? upstream_id : `${upstream_id} / ${model}`}</span>,
      state: say('today.breakerOpen'),
      ...upstreams,
    })),
    ...(overview.books?.balanced === false
      ? [{ key: 'books', what: say('nav.books'), state: say('books.differs'), ...books }]
      : []),
    ...(overview.storage === 'ok'
      ? []
      : [{ key: 'storage', what: say('today.storage'), state: say('today.unavailable'), ...books }]),
  ];
}
