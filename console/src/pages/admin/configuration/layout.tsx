import { Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from '../../../kit/page.tsx';
import { Loading } from '../../../kit/states.tsx';
import { Time } from '../../../kit/values.tsx';
import { useSay } from '../../../text.tsx';
import { useVersionInForce } from './config-api.ts';

const PLACES = { document: '', models: '/models', versions: '/versions' } as const;
type PlaceName = keyof typeof PLACES;

interface LayoutProps {
  readonly shown: PlaceName;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The three sides of the configuration: its text, what it sells, and what it was. */
export function ConfigurationLayout({ shown, actions, children }: LayoutProps) {
  const say = useSay();
  const navigate = useNavigate();
  const { data: version, isPending } = useVersionInForce();
  // The line about the version may need two on a phone; nothing below it moves when it comes.
  if (isPending) return <Loading lines={6} />;
  const about =
    version === null || version === undefined ? (
      say('configuration.about')
    ) : (
      <>
        {say('configuration.inForce', { version: version.version, actor: version.actor })}{' '}
        <Time at={version.applied_at} />
      </>
    );
  return (
    <Page title={say('configuration.title')} about={about} actions={actions}>
      <Tabs
        value={shown}
        onChange={(name) =>
          void navigate({ to: `/console/admin/configuration${PLACES[(name ?? 'document') as PlaceName]}` as never })
        }
      >
        <Tabs.List>
          {(Object.keys(PLACES) as PlaceName[]).map((name) => (
            <Tabs.Tab key={name} value={name}>
              {say(`configuration.tabs.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={shown} pt="lg">
          {children}
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
