import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Refusal } from '../../api/client.ts';
import type { PlaygroundEndpoint } from '../../api/endpoints.ts';
import { isOpen, useAssets, useJob } from '../../api/jobs.ts';
import type { Job } from '../../api/schema.ts';
import { useRefresh } from '../../kit/confirm.tsx';
import { ErrorHelp } from '../../kit/error-help.tsx';
import { JobFailure, JobProgress, JobState } from '../../kit/job-state.tsx';
import { Results } from '../../kit/results.tsx';
import { Empty, Loaded, Loading, Problem } from '../../kit/states.tsx';
import { useSay } from '../../text.tsx';
import { Transcript } from '../transcriptions/transcript.tsx';
import { Conversation } from './conversation.tsx';
import { Cost } from './cost.tsx';
import type { Draft } from './draft.ts';
import type { PastRun } from './history.ts';
import type { Run } from './run.ts';
import { Sounds } from './sounds.tsx';

interface ResultProps {
  readonly endpoint: PlaygroundEndpoint;
  readonly run: Run | undefined;
  readonly draft: Draft;
  readonly again: (() => void) | undefined;
  readonly amend: (key: string, change: Partial<PastRun>) => void;
}

/** What has come of the call so far: in place, with what it cost. */
export function Result({ endpoint, run, draft, again, amend }: ResultProps) {
  const say = useSay();
  if (run === undefined && draft.turns.length === 0) return <Empty>{say(`playground.empty.${endpoint}`)}</Empty>;
  return (
    <Stack gap="md">
      {endpoint === 'chat' && <Conversation turns={draft.turns} run={run} />}
      {run !== undefined && <Made run={run} amend={amend} />}
      {run?.state === 'failed' && <Failure error={run.error} again={again} />}
      {run?.state === 'stopped' && (
        <Text size="sm" className="soft" role="status">
          {say('playground.stopped')}
        </Text>
      )}
      {run !== undefined && run.job === undefined && run.state !== 'running' && (
        <Cost requestId={run.requestId} credits={run.credits} />
      )}
    </Stack>
  );
}

function Made({ run, amend }: Pick<ResultProps, 'amend'> & { readonly run: Run }) {
  const say = useSay();
  const { job, speech, transcript, state, call, key } = run;
  if (job !== undefined) {
    return <JobResult first={job} requestId={run.requestId} ended={({ usage }) => amend(key, usage ?? {})} />;
  }
  if (speech !== undefined) return <Sounds speech={speech} />;
  if (transcript !== undefined) {
    return (
      <>
        <Transcript name={run.requestId ?? 'transcript'} result={transcript} clip={call.clip} />
        <Anchor
          component={Link}
          to={`/console/transcriptions/${run.requestId ?? ''}`}
          size="sm"
          c="inherit"
          underline="always"
        >
          {say('playground.transcription')}
        </Anchor>
      </>
    );
  }
  return state === 'running' && call.endpoint !== 'chat' ? <Loading /> : null;
}

interface JobResultProps {
  readonly first: Job;
  readonly requestId: string | undefined;
  readonly ended: (job: Job) => void;
}

/** A job from its acceptance to its results. */
function JobResult({ first, requestId, ended }: JobResultProps) {
  const say = useSay();
  const job = useJob(first.id).data ?? first;
  const assets = useAssets(job);
  const refresh = useRefresh();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it has ended.
  useEffect(() => {
    if (isOpen(job)) return;
    ended(job);
    void refresh(['/api/console/credits']);
  }, [job.status]);
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="xs">
        <JobState status={job.status} />
        <Anchor component={Link} to={`/console/jobs/${job.id}`} size="sm" c="inherit" underline="always">
          {say('playground.job')}
        </Anchor>
      </Group>
      {isOpen(job) && <JobProgress job={job} />}
      {job.status === 'succeeded' && (
        <Loaded query={assets}>{(items) => <Results assets={items} label={job.model} />}</Loaded>
      )}
      {!isOpen(job) && job.status !== 'succeeded' && <JobFailure job={job} />}
      {!isOpen(job) && <Cost requestId={requestId} credits={job.usage?.credits ?? 0} />}
    </Stack>
  );
}

/** The gateway's words, what the code means, and what helps. */
function Failure({ error, again }: { readonly error: unknown; readonly again: (() => void) | undefined }) {
  const say = useSay();
  if (error instanceof Refusal) {
    return (
      <Stack gap={4} role="alert">
        <Text fw={600} style={{ color: 'var(--bad)' }}>
          {error.message}
        </Text>
        <ErrorHelp code={error.code} />
        <Text size="xs" className="soft mono">
          {error.requestId}
        </Text>
      </Stack>
    );
  }
  return (
    <Stack gap="xs">
      <Problem error={error} />
      {again !== undefined && (
        <Button variant="default" onClick={again} w="fit-content">
          {say('playground.sameAgain')}
        </Button>
      )}
    </Stack>
  );
}
