import { Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { State } from '../../kit/badge.tsx';
import { Panel } from '../../kit/page.tsx';
import { Empty } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { Credits, Time } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';
import { type PastRun, wordsOf } from './history.ts';

interface PastRunsProps {
  readonly runs: readonly PastRun[];
  readonly again: (run: PastRun) => void;
  readonly clear: () => void;
}

/** What was run in this browser, to be run again. */
export function PastRuns({ runs, again, clear }: PastRunsProps) {
  const say = useSay();
  const clearButton = (
    <Button variant="default" size="compact-sm" onClick={clear}>
      {say('playground.forget')}
    </Button>
  );
  return (
    <Panel title={say('playground.history')} flush actions={runs.length === 0 ? undefined : clearButton}>
      {runs.length === 0 ? (
        <Empty>{say('playground.noHistory')}</Empty>
      ) : (
        <Table
          label={say('playground.history')}
          rows={runs}
          keyOf={({ key }) => key}
          columns={[
            { label: say('playground.when'), cell: ({ at }) => <Time at={at} /> },
            { label: say('models.model'), cell: (run) => <What run={run} /> },
            {
              label: say('playground.words'),
              cell: (run) => (
                <Text size="sm" lineClamp={1} maw={320}>
                  {wordsOf(run)}
                </Text>
              ),
            },
            { label: say('playground.costs'), cell: ({ credits }) => <Credits value={credits} />, end: true },
            {
              label: say('playground.actions'),
              cell: (run) => <Actions run={run} again={() => again(run)} />,
              end: true,
            },
          ]}
        />
      )}
    </Panel>
  );
}

function What({ run }: { readonly run: PastRun }) {
  const say = useSay();
  return (
    <>
      <span className="mono">{run.model}</span>
      <Group gap={6}>
        <Text size="xs" className="soft">
          {say(`endpoint.${run.endpoint}`)}
        </Text>
        {run.hasFailed === true && <State tone="bad">{say('playground.failed')}</State>}
      </Group>
    </>
  );
}

function Actions({ run, again }: { readonly run: PastRun; readonly again: () => void }) {
  const say = useSay();
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      {run.jobId !== undefined && (
        <Button component={Link} to={`/console/jobs/${run.jobId}`} variant="default" size="compact-sm">
          {say('playground.job')}
        </Button>
      )}
      {run.endpoint === 'transcriptions' && run.requestId !== undefined && (
        <Button component={Link} to={`/console/transcriptions/${run.requestId}`} variant="default" size="compact-sm">
          {say('playground.transcript')}
        </Button>
      )}
      <Button variant="default" size="compact-sm" onClick={again}>
        {say('playground.again')}
      </Button>
    </Group>
  );
}
