import { Box, Button, Group, Stack, Text } from '@mantine/core';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { isOpen, jobPath, useAssets, useJob } from '../../api/jobs.ts';
import type { Asset, Job, JobRequest } from '../../api/schema.ts';
import { useMay } from '../../api/session.ts';
import { Fact, Facts } from '../../kit/facts.tsx';
import { JobFailure, JobProgress, JobState } from '../../kit/job-state.tsx';
import { Page, Panel } from '../../kit/page.tsx';
import { Results } from '../../kit/results.tsx';
import { Empty, Loaded, Loading } from '../../kit/states.tsx';
import { Credits } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';
import { Inputs } from './inputs.tsx';
import { JobCode } from './job-code.tsx';
import { Timeline } from './timeline.tsx';

/** One job: what it has made, how it went, what it was asked for and what it cost. */
export function JobPage() {
  const say = useSay();
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string };
  const job = useJob(id);
  const mayRun = useMay('member');
  const again = (
    <Button component={Link} to={`/console/playground?again=${encodeURIComponent(id)}`}>
      {say('jobs.again')}
    </Button>
  );
  return (
    <Page
      title={say('jobs.one')}
      about={<span className="mono">{id}</span>}
      actions={mayRun && job.data !== undefined ? again : undefined}
    >
      <Loaded query={job}>{(found) => <Found job={found} />}</Loaded>
    </Page>
  );
}

function Found({ job }: { readonly job: Job }) {
  const say = useSay();
  const path = `${jobPath(job.id)}/request`;
  const request = useQuery({
    // Read again when the job has come on: its times are in the answer.
    queryKey: [path, job.status],
    queryFn: ({ signal }) => api<JobRequest>(path, { signal }),
    placeholderData: (before) => before,
  });
  const assets = useAssets(job);
  const isComing = request.isPending || (job.status === 'succeeded' && assets.isPending);
  return (
    <>
      <Panel>
        <Facts>
          <Fact label={say('jobs.state')}>
            <JobState status={job.status} />
          </Fact>
          <Fact label={say('models.model')}>
            <Link to="/console/models/$" params={{ _splat: job.model }} className="mono">
              {job.model}
            </Link>
          </Fact>
          <Fact label={say('jobs.kind')}>{say(`kind.${job.kind}`)}</Fact>
          <Fact label={say('jobs.cost')}>
            <Group gap={4}>
              <Credits value={job.usage?.credits} />
              {job.usage !== undefined && say('unit.credits')}
            </Group>
          </Fact>
        </Facts>
        {isOpen(job) && (
          <Stack gap={4} mt="md">
            <Text size="sm">{say(job.status === 'queued' ? 'jobs.waits' : 'jobs.runs')}</Text>
            <JobProgress job={job} />
          </Stack>
        )}
        {!isOpen(job) && job.status !== 'succeeded' && (
          <Box mt="md">
            <JobFailure job={job} />
          </Box>
        )}
      </Panel>
      {/* All at once, so that nothing moves down under the reader's eyes. */}
      {isComing ? <Loading lines={6} /> : <Rest job={job} request={request} assets={assets} />}
    </>
  );
}

interface RestProps {
  readonly job: Job;
  readonly request: UseQueryResult<JobRequest>;
  readonly assets: UseQueryResult<readonly Asset[]>;
}

function Rest({ job, request, assets }: RestProps) {
  const say = useSay();
  return (
    <>
      {job.status === 'succeeded' && <Made job={job} assets={assets} />}
      <Panel title={say('jobs.timeline')}>
        <Loaded query={request} lines={3}>
          {({ timeline }) => <Timeline job={job} times={timeline} />}
        </Loaded>
      </Panel>
      <Panel title={say('jobs.inputs')}>
        <Loaded query={request}>{(found) => <Inputs request={found} />}</Loaded>
      </Panel>
      {request.data !== undefined && <JobCode request={request.data} />}
    </>
  );
}

function Made({ job, assets }: Pick<RestProps, 'job' | 'assets'>) {
  const say = useSay();
  return (
    <Panel title={say('jobs.results')}>
      <Loaded query={assets}>
        {(items) =>
          items.length === 0 ? <Empty>{say('jobs.resultsGone')}</Empty> : <Results assets={items} label={job.model} />
        }
      </Loaded>
    </Panel>
  );
}
