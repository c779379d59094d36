import { Progress, Stack } from '@mantine/core';
import type { Job } from '../api/schema.ts';
import { useSay } from '../text.tsx';
import { State, type Tone } from './badge.tsx';
import { ErrorHelp } from './error-help.tsx';

const TONES: Readonly<Record<Job['status'], Tone>> = {
  queued: 'soft',
  running: 'warn',
  succeeded: 'good',
  failed: 'bad',
  queue_expired: 'bad',
  canceled: 'soft',
};

export const JOB_STATUSES = Object.keys(TONES) as readonly Job['status'][];

export function JobState({ status }: { readonly status: Job['status'] }) {
  const say = useSay();
  return <State tone={TONES[status]}>{say(`jobs.status.${status}`)}</State>;
}

/** How far an open job is, in words and as a bar. */
export function JobProgress({ job }: { readonly job: Job }) {
  const say = useSay();
  return (
    <Progress
      value={job.status === 'queued' ? 0 : Math.max(job.progress, 4)}
      animated
      aria-label={say('jobs.progress', { percent: job.progress })}
    />
  );
}

/** Why a job has come to nothing and what helps. The gateway's words say that it cost nothing. */
export function JobFailure({ job }: { readonly job: Job }) {
  return (
    <Stack gap={4} role="alert">
      {job.error_code !== undefined && <ErrorHelp code={job.error_code} isOfJob />}
    </Stack>
  );
}
