import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Transaction } from '../../api/schema.ts';
import { Table } from '../../kit/table.tsx';
import { Credits, Time } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';

/** Entries of the ledger: by how much each changed what can be spent, and what was available after it. */
export function Entries({ rows }: { readonly rows: readonly Transaction[] }) {
  const say = useSay();
  return (
    <Table
      label={say('credits.ledger')}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { label: say('credits.time'), cell: ({ created_at }) => <Time at={created_at} /> },
        { label: say('credits.type'), cell: ({ type }) => say(`credits.types.${type}`) },
        { label: say('credits.for'), cell: (entry) => <Reason entry={entry} /> },
        { label: say('credits.amount'), end: true, cell: ({ amount }) => <Change amount={amount} /> },
        { label: say('credits.charged'), end: true, cell: ({ charged }) => <Credits value={charged || null} /> },
        { label: say('credits.balance'), end: true, cell: ({ balance }) => <Credits value={balance} /> },
      ]}
    />
  );
}

function Change({ amount }: { readonly amount: number }) {
  return (
    <span className="num">
      {amount > 0 && '+'}
      <Credits value={amount} />
    </span>
  );
}

/** The job or the request that moved the credits; a grant has neither. */
function Reason({ entry }: { readonly entry: Transaction }) {
  const say = useSay();
  const { job_id, request_id, model } = entry;
  if (job_id === null && request_id === null) return <span className="soft">–</span>;
  return (
    <>
      {job_id !== null ? (
        <Link to="/console/jobs/$id" params={{ id: job_id }}>
          {say('credits.job')}
        </Link>
      ) : (
        <Link to="/console/activity" search={{ request_id }}>
          {say('credits.request')}
        </Link>
      )}
      {model !== null && (
        <Text size="xs" className="soft mono">
          {model}
        </Text>
      )}
    </>
  );
}
