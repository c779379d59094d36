import { Stack, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { LoggedRequest } from '../../api/schema.ts';
import { State } from '../../kit/badge.tsx';
import { CopyId } from '../../kit/copy.tsx';
import { durationText } from '../../kit/format.ts';
import { type Column, Table } from '../../kit/table.tsx';
import { Credits, Time } from '../../kit/values.tsx';
import { useText } from '../../text.tsx';

interface RequestTableProps<Row extends LoggedRequest> {
  readonly rows: readonly Row[];
  /** The page of a row is below it. */
  readonly root: '/console/activity' | '/console/admin/requests';
  /** What an operator sees besides. */
  readonly columns?: readonly Column<Row>[];
}

export function RequestTable<Row extends LoggedRequest>({ rows, root, columns = [] }: RequestTableProps<Row>) {
  const { say, language } = useText();
  const navigate = useNavigate();
  return (
    <Table
      label={say('activity.title')}
      rows={rows}
      keyOf={({ id }) => id}
      open={({ id }) => void navigate({ to: `${root}/${id}` })}
      columns={[
        {
          label: say('activity.time'),
          cell: ({ id, created_at }) => (
            <Link to={`${root}/${id}`}>
              <Time at={created_at} />
            </Link>
          ),
        },
        { label: say('activity.route'), cell: (row) => <What row={row} /> },
        { label: say('activity.key'), cell: (row) => <KeyName row={row} /> },
        ...columns,
        { label: say('activity.outcome'), cell: (row) => <Outcome row={row} /> },
        {
          label: say('activity.duration'),
          end: true,
          cell: ({ duration_ms }) => <span className="num">{durationText(duration_ms, language)}</span>,
        },
        { label: say('activity.credits'), end: true, cell: (row) => <Cost row={row} /> },
        {
          label: say('activity.requestId'),
          cell: ({ request_id }) => <CopyId id={request_id} label={say('activity.copyRequestId')} />,
        },
      ]}
    />
  );
}

function What({ row }: { readonly row: LoggedRequest }) {
  return (
    <Stack gap={0}>
      <Text size="sm" fw={600}>
        {row.endpoint}
      </Text>
      {row.model !== null && (
        <Text size="xs" className="soft mono">
          {row.model}
        </Text>
      )}
    </Stack>
  );
}

/** The key or the app; without one it was run in the console. A deleted key has its id still. */
export function KeyName({ row }: { readonly row: LoggedRequest }) {
  const { say } = useText();
  if (row.key_id === null) return say('activity.console');
  return row.key_name ?? <span className="mono">{row.key_id}</span>;
}

/** The HTTP status, and the code of what went wrong: a job may fail long after its request was answered. */
export function Outcome({ row }: { readonly row: LoggedRequest }) {
  const { say } = useText();
  const isError = row.error_code !== null || row.status >= 400;
  return (
    <Stack gap={2} align="flex-start">
      <State tone={isError ? 'bad' : row.state === 'running' ? 'warn' : 'good'}>
        {row.state === 'running' ? say('activity.running') : String(row.status)}
      </State>
      {row.error_code !== null && (
        <Text size="xs" className="mono" style={{ color: 'var(--bad)' }}>
          {row.error_code}
        </Text>
      )}
      {row.requests > 1 && (
        <Text size="xs" className="soft">
          {say('activity.times', { count: row.requests })}
        </Text>
      )}
    </Stack>
  );
}

/** A dash where nothing was ever held: such a request could not cost anything. */
function Cost({ row }: { readonly row: LoggedRequest }) {
  const { say } = useText();
  if (row.state !== 'running') return <Credits value={row.state === null ? null : row.credits} />;
  return (
    <span className="soft">
      <Credits value={row.held} /> {say('shell.held')}
    </span>
  );
}
