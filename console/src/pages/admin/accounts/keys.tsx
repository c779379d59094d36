import { Group, NumberInput, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import type { Account, ApiKeyRecord, NewApiKey } from '../../../api/schema.ts';
import { useMayOperate } from '../../../api/session.ts';
import { State } from '../../../kit/badge.tsx';
import { Confirm, useRefresh } from '../../../kit/confirm.tsx';
import { FormButton } from '../../../kit/form-button.tsx';
import { LimitBar } from '../../../kit/limit-bar.tsx';
import { Panel } from '../../../kit/page.tsx';
import { ShownOnce } from '../../../kit/shown-once.tsx';
import { Paged, Table, usePages } from '../../../kit/table.tsx';
import { Time } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';
import { ACCOUNTS_PATH } from './accounts.tsx';
import { RateFields, type Rates } from './rate-fields.tsx';

/** The keys of an account: an operator makes, disables and deletes them too, and sets rates above the account's own. */
export function AccountKeys({ account }: { readonly account: Account }) {
  const say = useSay();
  const mayChange = useMayOperate();
  const path = `${ACCOUNTS_PATH}/${account.id}/keys`;
  const pages = usePages<ApiKeyRecord>(path, (key) => key.id);
  const [made, setMade] = useState<NewApiKey>();
  return (
    <Stack>
      {made !== undefined && (
        <ShownOnce
          title={say('keys.shownTitle', { name: made.name })}
          about={say('keys.shownAbout')}
          secret={made.key}
          testId="shown-once"
        />
      )}
      <Panel flush actions={mayChange ? <MakeKey path={path} done={setMade} /> : undefined}>
        <Paged pages={pages} empty={say('account.noKeys')}>
          {(rows) => (
            <Table
              label={say('account.keys')}
              rows={rows}
              keyOf={(key) => key.id}
              columns={[
                { label: say('keys.name'), cell: (key) => <Name accountId={account.id} apiKey={key} /> },
                {
                  label: say('keys.limit'),
                  cell: (key) => (
                    <LimitBar used={key.credits_used} limit={key.credit_limit} reset={key.credit_limit_reset} />
                  ),
                },
                { label: say('keys.expires'), cell: (key) => <Time at={key.expires_at} /> },
                { label: say('keys.lastUsed'), cell: (key) => <Time at={key.last_used_at} /> },
                ...(mayChange
                  ? [
                      {
                        label: say('keys.actions'),
                        cell: (key: ApiKeyRecord) => <Actions apiKey={key} changes={[path, ACCOUNTS_PATH]} />,
                      },
                    ]
                  : []),
              ]}
            />
          )}
        </Paged>
      </Panel>
    </Stack>
  );
}

function Name({ accountId, apiKey }: { readonly accountId: string; readonly apiKey: ApiKeyRecord }) {
  const say = useSay();
  return (
    <>
      <Group gap="xs">
        <Link to={'/console/admin/requests'} search={{ account: accountId, key: apiKey.id }}>
          <Text component="span" fw={600} size="sm">
            {apiKey.name}
          </Text>
        </Link>
        {apiKey.disabled && <State tone="warn">{say('keys.disabled')}</State>}
      </Group>
      <Text size="xs" className="soft mono">
        sk-tg1-{apiKey.prefix}…
      </Text>
      {apiKey.warnings.map((warning) => (
        <Text key={warning} size="xs" style={{ color: 'var(--warn)' }}>
          {warning}
        </Text>
      ))}
    </>
  );
}

function Actions({ apiKey, changes }: { readonly apiKey: ApiKeyRecord; readonly changes: readonly string[] }) {
  const say = useSay();
  const refresh = useRefresh();
  const path = `/api/admin/keys/${apiKey.id}`;
  const change = useMutation({
    mutationFn: (disabled: boolean) => api(path, { method: 'PATCH', body: { disabled } }),
    onSuccess: () => refresh(changes),
  });
  return (
    <Group gap="xs" wrap="nowrap">
      <Switch
        checked={!apiKey.disabled}
        disabled={change.isPending}
        onChange={() => change.mutate(!apiKey.disabled)}
        aria-label={say('keys.enabledFor', { name: apiKey.name })}
      />
      <Confirm
        label={say('action.delete')}
        title={say('keys.deleteTitle', { name: apiKey.name })}
        act={() => api(path, { method: 'DELETE' })}
        changes={changes}
      >
        {say('keys.deleteAbout')}
      </Confirm>
    </Group>
  );
}

function MakeKey({ path, done }: { readonly path: string; readonly done: (made: NewApiKey) => void }) {
  const say = useSay();
  const [name, setName] = useState('');
  const [limit, setLimit] = useState<string | number>('');
  const [rates, setRates] = useState<Rates>({ rpm: '', concurrency: '' });
  const body = {
    name,
    ...(limit === '' ? {} : { credit_limit: Number(limit) }),
    ...(rates.rpm === '' ? {} : { rpm: Number(rates.rpm) }),
    ...(rates.concurrency === '' ? {} : { concurrency: Number(rates.concurrency) }),
  };
  return (
    <FormButton
      label={say('keys.make')}
      title={say('keys.make')}
      changes={[path]}
      act={() => api<NewApiKey>(path, { method: 'POST', body })}
      done={(made) => {
        setName('');
        done(made);
      }}
    >
      <TextInput
        label={say('keys.name')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={100}
        required
        data-autofocus
      />
      <NumberInput
        label={say('keys.limit')}
        description={say('limit.about')}
        value={limit}
        onChange={setLimit}
        min={0}
        decimalScale={6}
      />
      <RateFields rates={rates} change={setRates} />
    </FormButton>
  );
}
