import { Text, TextInput } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { Account } from '../../../api/schema.ts';
import { useMayOperate } from '../../../api/session.ts';
import { Filters, FilterText, useFilters } from '../../../kit/filters.tsx';
import { FormButton } from '../../../kit/form-button.tsx';
import { Page, Panel } from '../../../kit/page.tsx';
import { Paged, Table, usePages } from '../../../kit/table.tsx';
import { Credits, Time } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';
import { AccountStatus } from './account-status.tsx';

export const ACCOUNTS_PATH = '/api/admin/accounts';

/** Every account with what it has, holds and when it last called. */
export function Accounts() {
  const say = useSay();
  const mayChange = useMayOperate();
  const { values, change, clear } = useFilters(['search']);
  const { search } = values;
  const pages = usePages<Account>(ACCOUNTS_PATH, (account) => account.id, { query: { search } });
  return (
    <Page title={say('accounts.title')} about={say('accounts.about')} actions={mayChange ? <NewAccount /> : undefined}>
      <Filters clear={search === undefined ? undefined : clear}>
        <FilterText label={say('accounts.search')} value={search} change={(value) => change({ search: value })} />
      </Filters>
      <Panel flush>
        <Paged pages={pages} empty={say(search === undefined ? 'accounts.none' : 'accounts.noneFound')}>
          {(rows) => (
            <Table
              label={say('accounts.title')}
              rows={rows}
              keyOf={(account) => account.id}
              columns={[
                { label: say('accounts.name'), cell: (account) => <Name account={account} /> },
                { label: say('accounts.status'), cell: (account) => <AccountStatus account={account} /> },
                { label: say('accounts.balance'), end: true, cell: (account) => <Credits value={account.balance} /> },
                { label: say('accounts.held'), end: true, cell: (account) => <Credits value={account.held} /> },
                { label: say('accounts.lastUsed'), end: true, cell: (account) => <Time at={account.last_used_at} /> },
              ]}
            />
          )}
        </Paged>
      </Panel>
    </Page>
  );
}

function Name({ account }: { readonly account: Account }) {
  return (
    <>
      <Link to={`/console/admin/accounts/${account.id}` as never}>
        <Text component="span" fw={600} size="sm">
          {account.name}
        </Text>
      </Link>
      <Text size="xs" className="soft">
        {account.email ?? <span className="mono">{account.id}</span>}
      </Text>
    </>
  );
}

function NewAccount() {
  const say = useSay();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  return (
    <FormButton
      isMain
      label={say('accounts.make')}
      title={say('accounts.make')}
      changes={[ACCOUNTS_PATH]}
      act={() => api<Account>(ACCOUNTS_PATH, { method: 'POST', body: { name, ...(email === '' ? {} : { email }) } })}
      done={({ id }) => void navigate({ to: `/console/admin/accounts/${id}` as never })}
    >
      <TextInput
        label={say('accounts.name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={200}
        required
        data-autofocus
      />
      <TextInput
        label={say('accounts.email')}
        description={say('accounts.emailAbout')}
        type="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
    </FormButton>
  );
}
