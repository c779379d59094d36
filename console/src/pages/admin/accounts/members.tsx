import { Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { Account, Invitation, Member, OneTimeLink } from '../../../api/schema.ts';
import { useMayOperate } from '../../../api/session.ts';
import { FormButton } from '../../../kit/form-button.tsx';
import { Panel } from '../../../kit/page.tsx';
import { ShownOnce } from '../../../kit/shown-once.tsx';
import { Empty, Loaded } from '../../../kit/states.tsx';
import { Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';
import { ACCOUNTS_PATH } from './accounts.tsx';

interface WholeList<Item> {
  readonly data: readonly Item[];
}

/** Who belongs to the account, and who is invited to it. */
export function AccountMembers({ account }: { readonly account: Account }) {
  const say = useSay();
  const mayChange = useMayOperate();
  const [made, setMade] = useState<OneTimeLink>();
  const path = `${ACCOUNTS_PATH}/${account.id}`;
  const members = useWholeList<Member>(`${path}/members`);
  const invitations = useWholeList<Invitation>(`${path}/invitations`);
  return (
    <Stack>
      {made !== undefined && (
        <ShownOnce
          title={say('people.linkTitle', { email: made.email ?? '' })}
          about={say('people.linkAbout')}
          secret={made.url}
          testId="shown-once"
        />
      )}
      <Panel flush actions={mayChange ? <Invite path={`${path}/invitations`} done={setMade} /> : undefined}>
        <Loaded query={members}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty>{say('account.noMembers')}</Empty>
            ) : (
              <Table
                label={say('account.members')}
                rows={data}
                keyOf={(member) => member.id}
                columns={[
                  { label: say('people.person'), cell: (member) => <Name name={member.name} email={member.email} /> },
                  { label: say('people.role'), cell: (member) => say(`people.roles.${member.role}`) },
                  { label: say('people.lastSignIn'), cell: (member) => <Time at={member.last_sign_in_at} /> },
                ]}
              />
            )
          }
        </Loaded>
      </Panel>
      <Loaded query={invitations} lines={1}>
        {({ data }) =>
          data.length > 0 && (
            <Panel title={say('people.invitations')} flush>
              <Table
                label={say('people.invitations')}
                rows={data}
                keyOf={(invitation) => invitation.id}
                columns={[
                  { label: say('people.email'), cell: (invitation) => invitation.email },
                  {
                    label: say('people.role'),
                    cell: (invitation) => (invitation.role === null ? '–' : say(`people.roles.${invitation.role}`)),
                  },
                  { label: say('people.expires'), cell: (invitation) => <Time at={invitation.expires_at} /> },
                ]}
              />
            </Panel>
          )
        }
      </Loaded>
    </Stack>
  );
}

function useWholeList<Item>(path: string) {
  return useQuery({ queryKey: [path], queryFn: ({ signal }) => api<WholeList<Item>>(path, { signal }) });
}

function Name({ name, email }: { readonly name: string; readonly email: string }) {
  return (
    <>
      <Text fw={600} size="sm">
        {name}
      </Text>
      <Text size="xs" className="soft">
        {email}
      </Text>
    </>
  );
}

function Invite({ path, done }: { readonly path: string; readonly done: (made: OneTimeLink) => void }) {
  const say = useSay();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<string | null>('owner');
  return (
    <FormButton
      label={say('people.invite')}
      title={say('account.inviteTitle')}
      changes={[path]}
      act={() => api<OneTimeLink>(path, { method: 'POST', body: { email, role } })}
      done={(made) => {
        setEmail('');
        done(made);
      }}
    >
      <TextInput
        label={say('people.email')}
        type="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        required
        data-autofocus
      />
      <Select
        label={say('people.role')}
        value={role}
        onChange={setRole}
        data={(['owner', 'member', 'viewer'] as const).map((value) => ({ value, label: say(`people.roles.${value}`) }))}
        allowDeselect={false}
      />
    </FormButton>
  );
}
