import { Button, Group, Switch, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { ApiKeyRecord, NewApiKey } from '../../api/schema.ts';
import { useMay } from '../../api/session.ts';
import { State } from '../../kit/badge.tsx';
import { Confirm, useRefresh } from '../../kit/confirm.tsx';
import { LimitBar } from '../../kit/limit-bar.tsx';
import { Page, Panel } from '../../kit/page.tsx';
import { Paged, Table, usePages } from '../../kit/table.tsx';
import { Time } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';
import { NewKey } from './new-key.tsx';
import { ShownKey } from './shown-key.tsx';

const PATH = '/api/console/keys';

/** The account's API keys: made, copied once, limited, disabled, and deleted. */
export function Keys() {
  const say = useSay();
  const mayChange = useMay('member');
  const pages = usePages<ApiKeyRecord>(PATH, (key) => key.id);
  const [made, setMade] = useState<NewApiKey>();
  const [isMaking, setMaking] = useState(false);
  const make = <Button onClick={() => setMaking(true)}>{say('keys.make')}</Button>;
  return (
    <Page title={say('keys.title')} about={say('keys.about')} actions={mayChange ? make : undefined}>
      {made !== undefined && <ShownKey made={made} />}
      <Panel flush>
        <Paged pages={pages} empty={say('keys.none')} emptyAction={mayChange ? make : undefined}>
          {(rows) => (
            <Table
              label={say('keys.title')}
              rows={rows}
              keyOf={(key) => key.id}
              columns={[
                { label: say('keys.name'), cell: (key) => <Name apiKey={key} /> },
                {
                  label: say('keys.limit'),
                  cell: (key) => (
                    <LimitBar used={key.credits_used} limit={key.credit_limit} reset={key.credit_limit_reset} />
                  ),
                },
                { label: say('keys.expires'), cell: (key) => <Time at={key.expires_at} /> },
                { label: say('keys.lastUsed'), cell: (key) => <Time at={key.last_used_at} /> },
                ...(mayChange
                  ? [{ label: say('keys.actions'), cell: (key: ApiKeyRecord) => <Actions apiKey={key} /> }]
                  : []),
              ]}
            />
          )}
        </Paged>
      </Panel>
      <NewKey isOpen={isMaking} close={() => setMaking(false)} done={setMade} />
    </Page>
  );
}

function Name({ apiKey }: { readonly apiKey: ApiKeyRecord }) {
  const say = useSay();
  const isExpired = apiKey.expires_at !== null && apiKey.expires_at * 1000 <= Date.now();
  return (
    <>
      <Group gap="xs">
        <Text fw={600} size="sm">
          {apiKey.name}
        </Text>
        {apiKey.disabled && <State tone="warn">{say('keys.disabled')}</State>}
        {isExpired && <State tone="bad">{say('keys.expired')}</State>}
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

function Actions({ apiKey }: { readonly apiKey: ApiKeyRecord }) {
  const say = useSay();
  const refresh = useRefresh();
  const path = `${PATH}/${apiKey.id}`;
  const change = useMutation({
    mutationFn: (disabled: boolean) => api(path, { method: 'PATCH', body: { disabled } }),
    onSuccess: () => refresh([PATH]),
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
        changes={[PATH]}
      >
        {say('keys.deleteAbout')}
      </Confirm>
    </Group>
  );
}
