import { Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { JobRecord } from '../../../api/schema.ts';
import { CopyId } from '../../../kit/copy.tsx';
import { dayAfter, FilterDay, FilterSelect, Filters, FilterText, useFilters } from '../../../kit/filters.tsx';
import { durationText } from '../../../kit/format.ts';
import { JOB_STATUSES, JobState } from '../../../kit/job-state.tsx';
import { Name } from '../../../kit/name.tsx';
import { Page, Panel } from '../../../kit/page.tsx';
import { Paged, Table, usePages } from '../../../kit/table.tsx';
import { Credits, Time } from '../../../kit/values.tsx';
import { useSay, useText } from '../../../text.tsx';
import { AccountLink, WithAccountNames } from '../account-link.tsx';

const NAMES = ['account', 'status', 'kind', 'model', 'code', 'request_id', 'since', 'until'] as const;
const KINDS = ['image', 'video', 'audio'] as const;
const REFRESH_MS = 15_000;

/** The jobs of all accounts, and which upstreams were asked for each. */
export function Jobs() {
  const say = useSay();
  const { values } = useFilters(NAMES);
  const query = { ...values, until: dayAfter(values.until) };
  const pages = usePages<JobRecord>('/api/admin/jobs', (job) => job.id, { query, refetchInterval: REFRESH_MS });
  return (
    <Page title={say('allJobs.title')} about={say('allJobs.about')}>
      <JobFilters />
      <Panel flush>
        <WithAccountNames>
          <Paged pages={pages} empty={say('allJobs.none')}>
            {(rows) => (
              <Table
                label={say('allJobs.title')}
                rows={rows}
                keyOf={(job) => job.id}
                columns={[
                  { label: say('allJobs.created'), cell: (job) => <Created job={job} /> },
                  { label: say('requests.account'), cell: (job) => <AccountLink id={job.account_id} /> },
                  { label: say('activity.model'), cell: (job) => <Model job={job} /> },
                  { label: say('allJobs.status'), cell: (job) => <Status job={job} /> },
                  { label: say('allJobs.attempts'), cell: (job) => <Attempts job={job} /> },
                  { label: say('allJobs.took'), end: true, cell: (job) => <Took job={job} /> },
                  { label: say('activity.credits'), end: true, cell: (job) => <Credits value={job.usage?.credits} /> },
                ]}
              />
            )}
          </Paged>
        </WithAccountNames>
      </Panel>
    </Page>
  );
}

function JobFilters() {
  const say = useSay();
  const { values, of, clear } = useFilters(NAMES);
  return (
    <Filters clear={Object.keys(values).length === 0 ? undefined : clear}>
      <FilterDay label={say('filter.since')} {...of('since')} />
      <FilterDay label={say('filter.until')} {...of('until')} />
      <FilterSelect
        label={say('allJobs.status')}
        {...of('status')}
        options={JOB_STATUSES.map((value) => ({ value, label: say(`jobs.status.${value}`) }))}
      />
      <FilterSelect
        label={say('allJobs.kind')}
        {...of('kind')}
        options={KINDS.map((value) => ({ value, label: say(`allJobs.kinds.${value}`) }))}
      />
      <FilterText label={say('activity.model')} {...of('model')} />
      <FilterText label={say('requests.account')} {...of('account')} />
      <FilterText label={say('activity.code')} {...of('code')} />
    </Filters>
  );
}

function Created({ job }: { readonly job: JobRecord }) {
  const say = useSay();
  return (
    <Stack gap={0} align="flex-start" className="targets">
      <Link to={`/console/admin/jobs/${job.id}`}>
        <Time at={job.created_at} />
      </Link>
      <CopyId id={job.id} label={say('allJobs.copyId')} />
    </Stack>
  );
}

function Model({ job }: { readonly job: JobRecord }) {
  return (
    <>
      <Name>{job.model}</Name>
      <Text size="xs" className="soft">
        {job.endpoint}
      </Text>
    </>
  );
}

function Status({ job }: { readonly job: JobRecord }) {
  return (
    <>
      <JobState status={job.status} />
      {job.error_code !== undefined && (
        <Text size="xs" className="mono">
          {job.error_code}
        </Text>
      )}
    </>
  );
}

export function Attempts({ job }: { readonly job: JobRecord }) {
  if (job.attempts.length === 0) return <span className="soft">–</span>;
  return job.attempts.map(({ upstream, model, state, error_code }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: attempts are in order and never change their place.
    <Text key={index} size="xs">
      <Name>{`${upstream} / ${model}`}</Name> <span className="soft">{error_code ?? state}</span>
    </Text>
  ));
}

/** From its creation to its end; a job that is open has no length yet. */
function Took({ job }: { readonly job: JobRecord }) {
  const { language } = useText();
  if (job.finished_at === undefined) return <span className="soft">–</span>;
  return <span className="num">{durationText((job.finished_at - job.created_at) * 1000, language)}</span>;
}
