import { Button, Card, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useCatalogue } from '../../api/catalogue.ts';
import { api } from '../../api/client.ts';
import { isOpen, jobPath } from '../../api/jobs.ts';
import type { Job } from '../../api/schema.ts';
import { FilterSelect, Filters, useFilters } from '../../kit/filters.tsx';
import { Icon } from '../../kit/icons.tsx';
import { JobProgress, JobState } from '../../kit/job-state.tsx';
import { Page, Panel } from '../../kit/page.tsx';
import { Paged, rowsOf, usePages } from '../../kit/table.tsx';
import { Credits, Time } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';

const PATH = '/api/console/jobs';
const PAGE_ROWS = 24;
const NEWEST_ROWS = 100;
const OPEN_REFRESH_MS = 2000;
const KINDS = ['image', 'video', 'audio'] as const;
const STATUSES = ['queued', 'running', 'succeeded', 'failed', 'queue_expired'] as const;

/** Everything that was made, as pictures, clips and sounds. */
export function Jobs() {
  const say = useSay();
  const { values: filters } = useFilters(FILTERS);
  const pages = usePages<Job>(PATH, (job) => job.id, { query: filters, limit: PAGE_ROWS });
  const current = useCurrent(rowsOf(pages));
  return (
    <Page title={say('jobs.title')} about={say('jobs.about')} actions={<MakeButton />}>
      <JobFilters />
      <Panel>
        <Paged
          pages={pages}
          empty={say(Object.keys(filters).length > 0 ? 'jobs.noneSuch' : 'jobs.none')}
          emptyAction={<MakeButton />}
        >
          {(rows) => (
            <div className="gallery">
              {rows.map((row) => (
                <JobCard key={row.id} job={current.get(row.id) ?? row} />
              ))}
            </div>
          )}
        </Paged>
      </Panel>
    </Page>
  );
}

function MakeButton() {
  const say = useSay();
  return (
    <Button component={Link} to="/console/playground">
      {say('jobs.make')}
    </Button>
  );
}

const FILTERS = ['kind', 'status', 'model'] as const;

function JobFilters() {
  const say = useSay();
  const { values, change, clear } = useFilters(FILTERS);
  const models = (useCatalogue().data ?? []).map(({ id }) => ({ value: id, label: id }));
  return (
    <Filters clear={Object.keys(values).length > 0 ? clear : undefined}>
      <FilterSelect
        label={say('jobs.kind')}
        value={values.kind}
        change={(kind) => change({ kind })}
        options={KINDS.map((kind) => ({ value: kind, label: say(`kind.${kind}`) }))}
      />
      <FilterSelect
        label={say('jobs.state')}
        value={values.status}
        change={(status) => change({ status })}
        options={STATUSES.map((status) => ({ value: status, label: say(`jobs.status.${status}`) }))}
      />
      <FilterSelect
        label={say('models.model')}
        value={values.model}
        change={(model) => change({ model })}
        options={models}
      />
    </Filters>
  );
}

/** Open jobs as they are now: one request for all of them, as long as there is one. */
function useCurrent(rows: readonly Job[]): ReadonlyMap<string, Job> {
  const hasOpen = rows.some(isOpen);
  const newest = useQuery({
    queryKey: [PATH, 'newest'],
    queryFn: async ({ signal }) =>
      (await api<{ readonly data: readonly Job[] }>(PATH, { query: { limit: NEWEST_ROWS }, signal })).data,
    enabled: hasOpen,
    refetchInterval: ({ state: { data } }) => (data === undefined || data.some(isOpen) ? OPEN_REFRESH_MS : false),
  });
  return useMemo(() => new Map(newest.data?.map((job) => [job.id, job])), [newest.data]);
}

function JobCard({ job }: { readonly job: Job }) {
  const say = useSay();
  return (
    <Card component="article" padding="sm" withBorder>
      <Card.Section>
        <Link
          to="/console/jobs/$id"
          params={{ id: job.id }}
          aria-label={say('jobs.open', { model: job.model, state: say(`jobs.status.${job.status}`) })}
        >
          <Thumbnail job={job} />
        </Link>
      </Card.Section>
      <Stack gap={4} mt="sm">
        <Group justify="space-between" gap="xs">
          <JobState status={job.status} />
          <Text size="sm" className="soft">
            <Credits value={job.usage?.credits} />
          </Text>
        </Group>
        <Text size="xs" className="mono" truncate>
          {job.model}
        </Text>
        <Text size="xs" className="soft">
          <Time at={job.created_at} />
        </Text>
        {isOpen(job) && <JobProgress job={job} />}
        {job.status === 'succeeded' && job.kind === 'audio' && (
          // biome-ignore lint/a11y/useMediaCaption: generated music has none.
          <audio
            src={contentOf(job)}
            controls
            preload="none"
            aria-label={say('jobs.listen', { model: job.model })}
            style={{ width: '100%', height: 36 }}
          />
        )}
      </Stack>
    </Card>
  );
}

/** What a job has made first, loaded when it comes into view. */
function Thumbnail({ job }: { readonly job: Job }) {
  const content = contentOf(job);
  if (job.status === 'succeeded' && job.kind === 'image') {
    return <img className="thumb" src={content} alt="" loading="lazy" decoding="async" />;
  }
  if (job.status === 'succeeded' && job.kind === 'video') {
    return (
      <video
        className="thumb"
        src={`${content}#t=0.1`}
        preload="metadata"
        muted
        loop
        playsInline
        tabIndex={-1}
        onPointerEnter={({ currentTarget }) => void currentTarget.play()}
        onPointerLeave={({ currentTarget }) => currentTarget.pause()}
      />
    );
  }
  return (
    <span className="thumb soft">
      <Icon name={job.kind === 'audio' ? 'activity' : 'jobs'} size={36} />
    </span>
  );
}

/** Leads to what a job has made first. */
function contentOf({ id }: Job): string {
  return `${jobPath(id)}/content`;
}
