import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { api } from '../../api/client.ts';
import { useSignedIn } from '../../api/session.ts';
import { useRefresh } from '../../kit/confirm.tsx';
import { Page, Panel } from '../../kit/page.tsx';
import { Problem } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { useSay } from '../../text.tsx';
import { Sessions } from './sessions.tsx';

/** One's own name, password, sessions and accounts. */
export function Profile() {
  const say = useSay();
  const { person } = useSignedIn();
  return (
    <Page title={say('profile.title')} about={person.email}>
      <Name />
      <Password />
      <Sessions />
      <Accounts />
    </Page>
  );
}

interface ChangeFormProps {
  readonly label: string;
  readonly act: () => Promise<unknown>;
  readonly done?: () => void;
  readonly changes: readonly string[];
  readonly children: ReactNode;
}

/** A form of this page: it says so when the gateway has taken the change. */
function ChangeForm({ label, act, done, changes, children }: ChangeFormProps) {
  const say = useSay();
  const refresh = useRefresh();
  const change = useMutation({
    mutationFn: act,
    onSuccess: async () => {
      done?.();
      await refresh(changes);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" maw={420}>
        {children}
        {change.error !== null && <Problem error={change.error} />}
        <Group>
          <Button type="submit" variant="default" loading={change.isPending}>
            {label}
          </Button>
          {change.isSuccess && (
            <Text size="sm" role="status" style={{ color: 'var(--good)' }}>
              {say('profile.changed')}
            </Text>
          )}
        </Group>
      </Stack>
    </form>
  );
}

function Name() {
  const say = useSay();
  const { person } = useSignedIn();
  const [name, setName] = useState(person.name);
  return (
    <Panel title={say('profile.name')}>
      <ChangeForm
        label={say('action.save')}
        act={() => api('/api/console/profile', { method: 'PATCH', body: { name } })}
        changes={['/api/console/session', '/api/console/members']}
      >
        <TextInput
          aria-label={say('profile.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={200}
          autoComplete="name"
          required
        />
      </ChangeForm>
    </Panel>
  );
}

function Password() {
  const say = useSay();
  const { person } = useSignedIn();
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const forget = () => {
    setCurrent('');
    setPassword('');
  };
  return (
    <Panel title={say('profile.password')}>
      <Text size="sm" className="soft" mb="sm">
        {say('profile.passwordAbout')} <a href="/forgot-password">{say('profile.forgot')}</a>
      </Text>
      <ChangeForm
        label={say('profile.changePassword')}
        act={() =>
          api('/api/console/profile/password', { method: 'POST', body: { current_password: current, password } })
        }
        done={forget}
        changes={['/api/console/session']}
      >
        <input type="email" autoComplete="username" value={person.email} readOnly hidden />
        <PasswordInput
          label={say('profile.current')}
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          autoComplete="current-password"
          required
        />
        <PasswordInput
          label={say('profile.new')}
          description={say('profile.newAbout')}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          autoComplete="new-password"
          minLength={10}
          required
        />
      </ChangeForm>
    </Panel>
  );
}

function Accounts() {
  const say = useSay();
  const { accounts, account } = useSignedIn();
  const client = useQueryClient();
  const work = useMutation({
    mutationFn: (account_id: string) => api('/api/console/session', { method: 'PATCH', body: { account_id } }),
    // Everything on the page belonged to the other account.
    onSuccess: () => client.resetQueries(),
  });
  if (accounts.length === 0) return null;
  return (
    <Panel title={say('profile.accounts')} flush>
      <Table
        label={say('profile.accounts')}
        rows={accounts}
        keyOf={({ account_id }) => account_id}
        columns={[
          { label: say('profile.account'), cell: ({ name }) => name },
          { label: say('members.role'), cell: ({ role }) => say(`members.roles.${role}`) },
          {
            label: say('profile.actions'),
            cell: ({ account_id }) =>
              account_id === account?.account_id ? (
                <span className="soft">{say('profile.here')}</span>
              ) : (
                <Button variant="default" size="compact-sm" onClick={() => work.mutate(account_id)}>
                  {say('profile.work')}
                </Button>
              ),
          },
        ]}
      />
    </Panel>
  );
}
