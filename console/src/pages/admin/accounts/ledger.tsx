import { Link } from '@tanstack/react-router';
import type { Transaction } from '../../../api/schema.ts';
import { Paged, Table, usePages } from '../../../kit/table.tsx';
import { Credits, Time } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';
import { ACCOUNTS_PATH } from './accounts.tsx';

/** Every movement of the account with the balance that results. */
export function AccountLedger({ accountId }: { readonly accountId: string }) {
  const say = useSay();
  const pages = usePages<Transaction>(`${ACCOUNTS_PATH}/${accountId}/ledger`, (entry) => entry.id);
  return (
    <Paged pages={pages} empty={say('account.noEntries')}>
      {(rows) => (
        <Table
          label={say('account.ledger')}
          rows={rows}
          keyOf={(entry) => entry.id}
          columns={[
            { label: say('account.time'), cell: (entry) => <Time at={entry.created_at} /> },
            { label: say('account.entry'), cell: (entry) => say(`account.entries.${entry.type}`) },
            { label: say('account.about'), cell: (entry) => <About accountId={accountId} entry={entry} /> },
            { label: say('account.amount'), end: true, cell: (entry) => <Credits value={entry.amount} /> },
            { label: say('account.charged'), end: true, cell: (entry) => <Credits value={entry.charged} /> },
            { label: say('account.after'), end: true, cell: (entry) => <Credits value={entry.balance} /> },
          ]}
        />
      )}
    </Paged>
  );
}

function About({ accountId, entry }: { readonly accountId: string; readonly entry: Transaction }) {
  if (entry.request_id === null) return <span className="soft">–</span>;
  return (
    <Link to={'/console/admin/requests'} search={{ account: accountId, request_id: entry.request_id }} className="mono">
      {entry.model ?? entry.request_id}
    </Link>
  );
}
