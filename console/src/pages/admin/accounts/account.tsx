import { Group, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { api } from '../../../api/client.ts';
import type { Account as AccountRecord } from '../../../api/schema.ts';
import { useMayOperate } from '../../../api/session.ts';
import { Confirm } from '../../../kit/confirm.tsx';
import { Figure, Figures } from '../../../kit/figures.tsx';
import { useFilters } from '../../../kit/filters.tsx';
import { Page, Panel } from '../../../kit/page.tsx';
import { Loaded } from '../../../kit/states.tsx';
import { Credits, Time } from '../../../kit/values.tsx';
import { type TextKey, useSay } from '../../../text.tsx';
import { AccountStatus } from './account-status.tsx';
import { ACCOUNTS_PATH } from './accounts.tsx';
import { EditAccount } from './edit-account.tsx';
import { GiveCredits, TakeCreditsBack } from './give-credits.tsx';
import { AccountGrants } from './grants.tsx';
import { AccountKeys } from './keys.tsx';
import { AccountLedger } from './ledger.tsx';
import { AccountMembers } from './members.tsx';

const TABS = ['grants', 'ledger', 'keys', 'members'] as const;
type Tab = (typeof TABS)[number];
const TAB_TEXTS: Readonly<Record<Tab, TextKey>> = {
  grants: 'account.grants',
  ledger: 'account.ledger',
  keys: 'account.keys',
  members: 'account.members',
};

/** One account: its money, keys and people, and what an operator does with them. */
export function Account() {
  const { accountId = '' } = useParams({ strict: false }) as { readonly accountId?: string };
  const path = `${ACCOUNTS_PATH}/${accountId}`;
  const account = useQuery({ queryKey: [path], queryFn: ({ signal }) => api<AccountRecord>(path, { signal }) });
  return <Loaded query={account}>{(found) => <AccountPage account={found} />}</Loaded>;
}

function AccountPage({ account }: { readonly account: AccountRecord }) {
  const say = useSay();
  const mayChange = useMayOperate();
  return (
    <Page
      title={account.name}
      about={
        <>
          <span className="mono">{account.id}</span>
          {account.email !== null && ` · ${account.email}`} · {say('account.lastUsed')}{' '}
          <Time at={account.last_used_at} />
        </>
      }
      actions={mayChange ? <Actions account={account} /> : undefined}
    >
      <Figures>
        <Figure
          label={say('account.balance')}
          value={<Credits value={account.balance} />}
          hint={say('unit.credits')}
          {...(account.balance <= 0 ? { tone: 'bad' as const } : {})}
        />
        <Figure label={say('account.held')} value={<Credits value={account.held} />} hint={say('account.heldAbout')} />
        <Figure
          label={say('account.status')}
          value={<AccountStatus account={account} />}
          hint={<Limits account={account} />}
        />
      </Figures>
      {account.warnings.map((warning) => (
        <Text key={warning} size="sm" role="status" style={{ color: 'var(--warn)' }}>
          {warning}
        </Text>
      ))}
      <Group gap="lg">
        {(['requests', 'jobs', 'audit'] as const).map((place) => (
          <Link
            key={place}
            to={`/console/admin/${place}` as never}
            search={(place === 'audit' ? { target: account.id } : { account: account.id }) as never}
          >
            <Text size="sm" component="span">
              {say(`account.${place}`)}
            </Text>
          </Link>
        ))}
      </Group>
      <Parts account={account} />
    </Page>
  );
}

function Limits({ account }: { readonly account: AccountRecord }) {
  const say = useSay();
  const { rpm, concurrency } = account.limits;
  return (
    <>
      {say('account.groups')}: {account.groups.join(', ')}
      {rpm !== null && ` · ${say('account.rpmIs', { rpm })}`}
      {concurrency !== null && ` · ${say('account.concurrencyIs', { concurrency })}`}
    </>
  );
}

function Actions({ account }: { readonly account: AccountRecord }) {
  const say = useSay();
  const isActive = account.status === 'active';
  return (
    <>
      <GiveCredits account={account} />
      <TakeCreditsBack account={account} />
      <EditAccount account={account} />
      <Confirm
        label={say(isActive ? 'account.suspend' : 'account.reinstate')}
        title={say(isActive ? 'account.suspendTitle' : 'account.reinstateTitle', { name: account.name })}
        act={() =>
          api(`${ACCOUNTS_PATH}/${account.id}`, {
            method: 'PATCH',
            body: { status: isActive ? 'suspended' : 'active' },
          })
        }
        changes={[ACCOUNTS_PATH]}
      >
        {say(isActive ? 'account.suspendAbout' : 'account.reinstateAbout')}
      </Confirm>
    </>
  );
}

function Parts({ account }: { readonly account: AccountRecord }) {
  const say = useSay();
  const { values, change } = useFilters(['tab']);
  const shown = TABS.find((name) => name === values.tab) ?? 'grants';
  return (
    <Tabs
      value={shown}
      onChange={(name) => change({ tab: name === 'grants' ? undefined : (name ?? undefined) })}
      keepMounted={false}
    >
      <Tabs.List mb="md">
        {TABS.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {say(TAB_TEXTS[name])}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="grants">
        <Panel flush>
          <AccountGrants accountId={account.id} />
        </Panel>
      </Tabs.Panel>
      <Tabs.Panel value="ledger">
        <Panel flush>
          <AccountLedger accountId={account.id} />
        </Panel>
      </Tabs.Panel>
      <Tabs.Panel value="keys">
        <AccountKeys account={account} />
      </Tabs.Panel>
      <Tabs.Panel value="members">
        <AccountMembers account={account} />
      </Tabs.Panel>
    </Tabs>
  );
}
