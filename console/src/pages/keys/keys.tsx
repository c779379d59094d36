import { Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ApiKeyRecord, NewApiKey } from '../../api/schema.ts';
import { useMay } from '../../api/session.ts';
import { State } from '../../kit/badge.tsx';
import { LimitBar } from '../../kit/limit-bar.tsx';
import { Page, Panel } from '../../kit/page.tsx';
import { Paged, Table, usePages } from '../../kit/table.tsx';
import { Time } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';
import { KeyActions } from './key-actions.tsx';
import { NewKey } from './new-key.tsx';
import { ShownKey } from './shown-key.tsx';

/** The account's API keys: made, copied once, limited, rolled, disabled, and deleted. */
export function Keys() {
  const say = useSay();
  const mayChange = useMay('member');
  const pages = usePages<ApiKeyRecord>('/api/console/keys', (key) => key.id);
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
                { label: say('keys.limit'), cell: (key) => <Limits apiKey={key} /> },
                { label: say('keys.expires'), cell: (key) => <Time at={key.expires_at} /> },
                { label: say('keys.lastUsed'), cell: (key) => <LastUsed apiKey={key} /> },
                ...(mayChange
                  ? [
                      {
                        label: say('keys.actions'),
                        cell: (key: ApiKeyRecord) => <KeyActions apiKey={key} show={setMade} />,
                      },
                    ]
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

/** What counts against the limit now; without a limit, what was ever spent. */
function Limits({ apiKey }: { readonly apiKey: ApiKeyRecord }) {
  const say = useSay();
  const { credits_used, credit_limit_used, credit_limit, credit_limit_reset, rpm, concurrency, groups } = apiKey;
  const more = [
    rpm !== null && say('keys.rpmOf', { rpm }),
    concurrency !== null && say('keys.concurrencyOf', { concurrency }),
    groups?.join(', '),
  ].filter(Boolean);
  return (
    <>
      <LimitBar used={credit_limit_used ?? credits_used} limit={credit_limit} reset={credit_limit_reset} />
      {more.length > 0 && (
        <Text size="xs" className="soft">
          {more.join(' · ')}
        </Text>
      )}
    </>
  );
}

function LastUsed({ apiKey: { id, last_used_at } }: { readonly apiKey: ApiKeyRecord }) {
  const say = useSay();
  if (last_used_at === null) return <span className="soft">{say('keys.neverUsed')}</span>;
  return (
    <Link to="/console/activity" search={{ key: id }}>
      <Time at={last_used_at} />
    </Link>
  );
}
