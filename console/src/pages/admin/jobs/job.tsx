import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { api } from '../../../api/client.ts';
import type { JobRecord, JobRequest } from '../../../api/schema.ts';
import { Fact, Facts } from '../../../kit/facts.tsx';
import { JobState } from '../../../kit/job-state.tsx';
import { Page, Panel } from '../../../kit/page.tsx';
import { Loaded } from '../../../kit/states.tsx';
import { Credits } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';
import { Inputs } from '../../jobs/inputs.tsx';
import { Timeline } from '../../jobs/timeline.tsx';
import { AccountLink } from '../account-link.tsx';
import { Attempts } from './jobs.tsx';

/** One job of any account: whose it is, who was asked, how it went and what it was asked for. */
export function Job() {
  const say = useSay();
  const { jobId = '' } = useParams({ strict: false }) as { readonly jobId?: string };
  const path = `/api/admin/jobs/${jobId}`;
  const job = useQuery({ queryKey: [path], queryFn: ({ signal }) => api<JobRecord>(path, { signal }) });
  const request = useQuery({
    queryKey: [`${path}/request`],
    queryFn: ({ signal }) => api<JobRequest>(`${path}/request`, { signal }),
  });
  return (
    <Page
      title={say('jobs.one')}
      about={
        <>
          <span className="mono">{jobId}</span> · <Link to="/console/admin/jobs">{say('allJobs.back')}</Link>
        </>
      }
    >
      <Loaded query={job} lines={6}>
        {(found) => (
          <Loaded query={request} lines={6}>
            {(asked) => <Found job={found} request={asked} />}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

function Found({ job, request }: { readonly job: JobRecord; readonly request: JobRequest }) {
  const say = useSay();
  return (
    <>
      <Panel>
        <Facts>
          <Fact label={say('allJobs.status')}>
            <JobState status={job.status} />
          </Fact>
          <Fact label={say('requests.account')}>
            <AccountLink id={job.account_id} />
          </Fact>
          <Fact label={say('activity.model')}>
            <span className="mono">{job.model}</span>
          </Fact>
          <Fact label={say('activity.credits')}>
            <Credits value={job.usage?.credits} />
          </Fact>
          <Fact label={say('allJobs.attempts')}>
            <Attempts job={job} />
          </Fact>
          <Fact label={say('activity.requestId')}>
            <Link
              to="/console/admin/requests"
              search={{ account: job.account_id, request_id: job.request_id }}
              className="mono"
            >
              {job.request_id}
            </Link>
          </Fact>
          {job.error_code !== undefined && (
            <Fact label={say('activity.code')}>
              <span className="mono">{job.error_code}</span> {job.error}
            </Fact>
          )}
        </Facts>
      </Panel>
      <Panel title={say('jobs.timeline')}>
        <Timeline job={job} times={request.timeline} />
      </Panel>
      <Panel title={say('jobs.inputs')}>
        <Inputs request={request} />
      </Panel>
    </>
  );
}
