import { Button, Group, Select, Switch, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { OneTimeLink, Person } from '../../api/schema.ts';
import { useMayOperate, useSignedIn } from '../../api/session.ts';
import { State } from '../../kit/badge.tsx';
import { useRefresh } from '../../kit/confirm.tsx';
import { FormButton } from '../../kit/form-button.tsx';
import { Page, Panel } from '../../kit/page.tsx';
import { ShownOnce } from '../../kit/shown-once.tsx';
import { Problem } from '../../kit/states.tsx';
import { Paged, Table, usePages } from '../../kit/table.tsx';
import { Time } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';

const PATH = '/api/admin/people';
const ROLES = ['auditor', 'operator'] as const;

interface ShownLink {
  readonly email: string;
  readonly url: string;
}

/** Everybody who can sign in, and what they may do on the deployment. */
export function People() {
  const say = useSay();
  const mayChange = useMayOperate();
  const pages = usePages<Person>(PATH, (person) => person.id);
  const [link, setLink] = useState<ShownLink>();
  return (
    <Page
      title={say('people.title')}
      about={say('people.about')}
      actions={mayChange ? <InviteOperator done={setLink} /> : undefined}
    >
      {link !== undefined && (
        <ShownOnce
          title={say('people.linkTitle', { email: link.email })}
          about={say('people.linkAbout')}
          secret={link.url}
          testId="shown-once"
        />
      )}
      <Panel flush>
        <Paged pages={pages} empty={say('people.none')}>
          {(rows) => (
            <Table
              label={say('people.title')}
              rows={rows}
              keyOf={(person) => person.id}
              columns={[
                { label: say('people.person'), cell: (person) => <Name person={person} /> },
                { label: say('people.operatorRole'), cell: (person) => <Role person={person} /> },
                { label: say('people.lastSignIn'), cell: (person) => <Time at={person.last_sign_in_at} /> },
                ...(mayChange
                  ? [
                      {
                        label: say('people.actions'),
                        cell: (person: Person) => <Actions person={person} show={setLink} />,
                      },
                    ]
                  : []),
              ]}
            />
          )}
        </Paged>
      </Panel>
    </Page>
  );
}

function Name({ person }: { readonly person: Person }) {
  const say = useSay();
  const isSelf = useSignedIn().person.id === person.id;
  return (
    <>
      <Group gap="xs">
        <Text fw={600} size="sm">
          {person.name}
        </Text>
        {isSelf && <State tone="soft">{say('people.you')}</State>}
        {person.disabled && <State tone="bad">{say('people.disabled')}</State>}
      </Group>
      <Text size="xs" className="soft">
        {person.email}
      </Text>
    </>
  );
}

/** One's own role is changed by another operator, so that the last one does not lock everybody out. */
function Role({ person }: { readonly person: Person }) {
  const say = useSay();
  const mayChange = useMayOperate();
  const isSelf = useSignedIn().person.id === person.id;
  const change = usePersonChange(person);
  if (!mayChange || isSelf) {
    return person.operator_role === null ? (
      <span className="soft">{say('people.roles.none')}</span>
    ) : (
      say(`people.roles.${person.operator_role}`)
    );
  }
  return (
    <>
      <Select
        size="xs"
        aria-label={say('people.roleOf', { name: person.name })}
        value={person.operator_role ?? ''}
        disabled={change.isPending}
        onChange={(role) => change.mutate({ operator_role: role || null })}
        data={[
          { value: '', label: say('people.roles.none') },
          ...ROLES.map((value) => ({ value, label: say(`people.roles.${value}`) })),
        ]}
        allowDeselect={false}
        maw={150}
      />
      {change.error !== null && <Problem error={change.error} />}
    </>
  );
}

function Actions({ person, show }: { readonly person: Person; readonly show: (link: ShownLink) => void }) {
  const say = useSay();
  const isSelf = useSignedIn().person.id === person.id;
  const change = usePersonChange(person);
  const makeLink = useMutation({
    mutationFn: () => api<OneTimeLink>(`${PATH}/${person.id}/password-link`, { method: 'POST' }),
    onSuccess: ({ url }) => show({ email: person.email, url }),
  });
  return (
    <Group gap="xs" wrap="nowrap">
      <Switch
        checked={!person.disabled}
        disabled={isSelf || change.isPending}
        onChange={() => change.mutate({ disabled: !person.disabled })}
        aria-label={say('people.enabledFor', { name: person.name })}
      />
      <Button variant="default" size="compact-sm" loading={makeLink.isPending} onClick={() => makeLink.mutate()}>
        {say('people.passwordLink')}
      </Button>
      {makeLink.error !== null && <Problem error={makeLink.error} />}
    </Group>
  );
}

function usePersonChange(person: Person) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (body: { readonly operator_role?: string | null; readonly disabled?: boolean }) =>
      api<Person>(`${PATH}/${person.id}`, { method: 'PATCH', body }),
    onSuccess: () => refresh([PATH]),
  });
}

function InviteOperator({ done }: { readonly done: (link: ShownLink) => void }) {
  const say = useSay();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<string | null>('auditor');
  return (
    <FormButton
      isMain
      label={say('people.inviteOperator')}
      title={say('people.inviteOperator')}
      submitLabel={say('people.invite')}
      changes={[PATH]}
      act={() => api<OneTimeLink>('/api/admin/operators', { method: 'POST', body: { email, operator_role: role } })}
      done={({ url }) => {
        done({ email, url });
        setEmail('');
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
        label={say('people.operatorRole')}
        description={say('people.operatorRoleAbout')}
        value={role}
        onChange={setRole}
        data={ROLES.map((value) => ({ value, label: say(`people.roles.${value}`) }))}
        allowDeselect={false}
      />
    </FormButton>
  );
}
