import { Button, Select, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Member, OneTimeLink } from '../../api/schema.ts';
import { useMay, useSignedIn } from '../../api/session.ts';
import { Confirm, useRefresh } from '../../kit/confirm.tsx';
import { Page, Panel } from '../../kit/page.tsx';
import { ShownOnce } from '../../kit/shown-once.tsx';
import { Loaded, Problem } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';
import { Invitations } from './invitations.tsx';
import { Invite } from './invite.tsx';
import { ROLES, type Role } from './roles.ts';

const PATH = '/api/console/members';

/** Who belongs to the account. Owners invite, change roles and remove. */
export function Members() {
  const say = useSay();
  const isOwner = useMay('owner');
  const members = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => api<{ readonly data: readonly Member[] }>(PATH, { signal }),
  });
  const [isInviting, setInviting] = useState(false);
  const [link, setLink] = useState<OneTimeLink>();
  return (
    <Page
      title={say('members.title')}
      about={say('members.about')}
      actions={isOwner ? <Button onClick={() => setInviting(true)}>{say('members.invite')}</Button> : undefined}
    >
      {link !== undefined && (
        <ShownOnce
          title={say('members.linkTitle', { email: link.email ?? '' })}
          about={say('members.linkAbout')}
          secret={link.url}
          testId="invitation-link"
        />
      )}
      <Panel flush>
        <Loaded query={members}>{({ data }) => <MemberTable rows={data} isOwner={isOwner} />}</Loaded>
      </Panel>
      {isOwner && !members.isPending && <Invitations />}
      {isInviting && <Invite close={() => setInviting(false)} done={setLink} />}
    </Page>
  );
}

function MemberTable({ rows, isOwner }: { readonly rows: readonly Member[]; readonly isOwner: boolean }) {
  const say = useSay();
  const { person } = useSignedIn();
  return (
    <Table
      label={say('members.title')}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          label: say('members.person'),
          cell: ({ id, name, email }) => (
            <>
              <Text size="sm" fw={600}>
                {name} {id === person.id && <span className="soft">({say('members.you')})</span>}
              </Text>
              <Text size="xs" className="soft">
                {email}
              </Text>
            </>
          ),
        },
        {
          label: say('members.role'),
          cell: (member) => (isOwner ? <RoleSelect member={member} /> : say(`members.roles.${member.role}`)),
        },
        { label: say('members.lastSignIn'), cell: ({ last_sign_in_at }) => <Time at={last_sign_in_at} /> },
        ...(isOwner
          ? [
              {
                label: say('members.actions'),
                cell: ({ id, name }: Member) => (
                  <Confirm
                    label={say('members.remove')}
                    title={say('members.removeTitle', { name })}
                    act={() => api(`${PATH}/${id}`, { method: 'DELETE' })}
                    changes={id === person.id ? [PATH, '/api/console/session'] : [PATH]}
                  >
                    {say('members.removeAbout')}
                  </Confirm>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

function RoleSelect({ member }: { readonly member: Member }) {
  const say = useSay();
  const refresh = useRefresh();
  const change = useMutation({
    mutationFn: (role: Role) => api(`${PATH}/${member.id}`, { method: 'PATCH', body: { role } }),
    // One's own role decides what the pages offer.
    onSuccess: () => refresh([PATH, '/api/console/session']),
  });
  return (
    <>
      <Select
        size="xs"
        w={130}
        aria-label={say('members.roleOf', { name: member.name })}
        value={member.role}
        disabled={change.isPending}
        onChange={(role) => role !== null && change.mutate(role)}
        data={ROLES.map((value) => ({ value, label: say(`members.roles.${value}`) }))}
        allowDeselect={false}
      />
      {change.error !== null && <Problem error={change.error} />}
    </>
  );
}
