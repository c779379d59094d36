import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import type { JobRequest, LoggedRequestDetail } from '../../api/schema.ts';
import { CopyId } from '../../kit/copy.tsx';
import { ErrorHelp } from '../../kit/error-help.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { durationText } from '../../kit/format.ts';
import { Page, Panel } from '../../kit/page.tsx';
import { Loaded } from '../../kit/states.tsx';
import { Credits, Time } from '../../kit/values.tsx';
import { useText } from '../../text.tsx';
import { JobCode } from '../jobs/job-code.tsx';
import { Receipt } from './receipt.tsx';
import { KeyName, Outcome } from './request-table.tsx';

const RUNNING_MS = 2000;

/** One request: how it was answered, why it failed, and what it cost line by line. */
export function Request() {
  const { say } = useText();
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string };
  const path = `/api/console/requests/${id}`;
  const detail = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<LoggedRequestDetail>(path, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? RUNNING_MS : false),
  });
  return (
    <Page title={say('request.title')} about={<Link to="/console/activity">{say('request.back')}</Link>}>
      <Loaded query={detail}>{(request) => <RequestDetail request={request} />}</Loaded>
    </Page>
  );
}

interface RequestDetailProps {
  readonly request: LoggedRequestDetail;
  /** Where its job is looked at: of the reader's account, or of any. */
  readonly side?: 'console' | 'admin';
}

export function RequestDetail({ request, side = 'console' }: RequestDetailProps) {
  const { say } = useText();
  return (
    <Stack gap="lg">
      <Panel title={say('request.answer')}>
        <RequestFacts request={request} side={side} />
      </Panel>
      {request.error_code !== null && (
        <Panel title={say('request.wrong')}>
          <ErrorHelp code={request.error_code} isOfJob={request.job_id !== null} />
          {request.job_id === null && request.receipt?.charged === 0 && (
            <Text size="sm" mt="xs">
              {say('request.free')}
            </Text>
          )}
        </Panel>
      )}
      {request.receipt === null ? (
        <Panel title={say('receipt.title')}>
          <Text size="sm">{say('receipt.nothingHeld')}</Text>
        </Panel>
      ) : (
        <Receipt receipt={request.receipt} isRunning={request.state === 'running'} />
      )}
      {request.job_id !== null && <CodeOfJob jobId={request.job_id} side={side} />}
    </Stack>
  );
}

/** Only a job keeps what it was asked for. */
function CodeOfJob({ jobId, side }: { readonly jobId: string; readonly side: 'console' | 'admin' }) {
  const path = `/api/${side}/jobs/${jobId}/request`;
  const { data } = useQuery({ queryKey: [path], queryFn: ({ signal }) => api<JobRequest>(path, { signal }) });
  return data && <JobCode request={data} />;
}

function RequestFacts({ request, side = 'console' }: RequestDetailProps) {
  const { say, language } = useText();
  return (
    <Facts>
      <Fact label={say('activity.outcome')}>
        <Outcome row={request} />
      </Fact>
      <Fact label={say('activity.credits')}>
        <Credits value={request.receipt === null ? null : request.receipt.charged} />
      </Fact>
      <Fact label={say('activity.time')}>
        <Time at={request.created_at} exact />
      </Fact>
      <Fact label={say('activity.duration')}>
        {durationText(request.duration_ms, language)}
        {request.streamed && ` · ${say('request.streamed')}`}
      </Fact>
      <Fact label={say('activity.route')}>
        <span className="mono">{request.endpoint}</span>
      </Fact>
      <Fact label={say('activity.model')}>
        {request.model === null ? '–' : <span className="mono">{request.model}</span>}
      </Fact>
      <Fact label={say('activity.key')}>
        <KeyName row={request} />
      </Fact>
      <Fact label={say('activity.requestId')}>
        <CopyId id={request.request_id} label={say('activity.copyRequestId')} />
      </Fact>
      {request.job_id !== null && (
        <Fact label={say('request.job')}>
          <Link to={`/console/${side === 'admin' ? 'admin/' : ''}jobs/${request.job_id}`} className="mono">
            {request.job_id}
          </Link>
        </Fact>
      )}
    </Facts>
  );
}
