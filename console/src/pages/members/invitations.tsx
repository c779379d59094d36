import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Invitation } from '../../api/schema.ts';
import { Confirm } from '../../kit/confirm.tsx';
import { Panel } from '../../kit/page.tsx';
import { Empty, Loaded } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';

const PATH = '/api/console/invitations';

/** Invitations that have not been accepted yet. */
export function Invitations() {
  const say = useSay();
  const open = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => api<{ readonly data: readonly Invitation[] }>(PATH, { signal }),
  });
  return (
    <Panel title={say('members.open')} flush>
      <Loaded query={open} lines={2}>
        {({ data }) => (data.length === 0 ? <Empty>{say('members.noneOpen')}</Empty> : <InvitationTable rows={data} />)}
      </Loaded>
    </Panel>
  );
}

function InvitationTable({ rows }: { readonly rows: readonly Invitation[] }) {
  const say = useSay();
  return (
    <Table
      label={say('members.open')}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { label: say('members.email'), cell: ({ email }) => email },
        { label: say('members.role'), cell: ({ role }) => (role === null ? '–' : say(`members.roles.${role}`)) },
        { label: say('members.invitedBy'), cell: ({ invited_by }) => invited_by },
        { label: say('members.expires'), cell: ({ expires_at }) => <Time at={expires_at} /> },
        {
          label: say('members.actions'),
          cell: ({ id, email }) => (
            <Confirm
              label={say('members.withdraw')}
              title={say('members.withdrawTitle', { email })}
              act={() => api(`${PATH}/${id}`, { method: 'DELETE' })}
              changes={[PATH]}
            >
              {say('members.withdrawAbout')}
            </Confirm>
          ),
        },
      ]}
    />
  );
}
