import { Timeline as Steps, Text } from '@mantine/core';
import { isOpen } from '../../api/jobs.ts';
import type { Job, JobRequest } from '../../api/schema.ts';
import { durationText } from '../../kit/format.ts';
import { Time } from '../../kit/values.tsx';
import { useText } from '../../text.tsx';

/** Queued, running, ended: when each came, how long it took, and until when it may wait. */
export function Timeline({ job, times }: { readonly job: Job; readonly times: JobRequest['timeline'] }) {
  const { say, language } = useText();
  const { created_at, accepted_at, finished_at, dispatch_deadline_at } = times;
  const reached = finished_at !== null ? 2 : accepted_at !== null ? 1 : 0;
  // The gateway tells whole seconds.
  const tookText = (from: number, to: number) =>
    to === from ? say('jobs.tookNoTime') : say('jobs.took', { time: durationText((to - from) * 1000, language) });
  return (
    <Steps active={reached} bulletSize={16} lineWidth={2}>
      <Steps.Item title={say('jobs.queued')}>
        <Text size="sm" className="soft">
          <Time at={created_at} exact />
          {accepted_at !== null && ` · ${tookText(created_at, accepted_at)}`}
        </Text>
        {accepted_at === null && isOpen(job) && (
          <Text size="sm" className="soft">
            {say('jobs.deadline')} <Time at={dispatch_deadline_at} exact />
          </Text>
        )}
      </Steps.Item>
      {(accepted_at !== null || isOpen(job)) && (
        <Steps.Item title={say('jobs.running')}>
          <Text size="sm" className="soft">
            <Time at={accepted_at} exact />
            {accepted_at !== null && finished_at !== null && ` · ${tookText(accepted_at, finished_at)}`}
          </Text>
        </Steps.Item>
      )}
      <Steps.Item title={say('jobs.ended')}>
        <Text size="sm" className="soft">
          <Time at={finished_at} exact />
          {!isOpen(job) && ` · ${say(`jobs.status.${job.status}`)}`}
        </Text>
      </Steps.Item>
    </Steps>
  );
}
