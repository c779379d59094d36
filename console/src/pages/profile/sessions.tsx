import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Session } from '../../api/schema.ts';
import { State } from '../../kit/badge.tsx';
import { Confirm } from '../../kit/confirm.tsx';
import { Panel } from '../../kit/page.tsx';
import { Loaded } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';

const PATH = '/api/console/sessions';

/** Where the person is signed in, and the way to end it. */
export function Sessions() {
  const say = useSay();
  const sessions = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => api<{ readonly data: readonly Session[] }>(PATH, { signal }),
  });
  return (
    <Panel title={say('profile.sessions')} flush>
      <Loaded query={sessions}>
        {({ data }) => (
          <Table
            label={say('profile.sessions')}
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              { label: say('profile.browser'), cell: (session) => <Browser session={session} /> },
              { label: say('profile.method'), cell: ({ method }) => say(`profile.methods.${method}`) },
              { label: say('profile.since'), cell: ({ created_at }) => <Time at={created_at} /> },
              { label: say('profile.lastSeen'), cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
              { label: say('profile.actions'), cell: (session) => <End session={session} /> },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}

const AGENT_CHARS_SHOWN = 60;

function Browser({ session: { user_agent, address, current } }: { readonly session: Session }) {
  const say = useSay();
  const isLong = user_agent.length > AGENT_CHARS_SHOWN;
  return (
    <>
      <Group gap="xs">
        <Text size="sm" fw={600} title={user_agent}>
          {browserName(user_agent) ??
            (isLong ? `${user_agent.slice(0, AGENT_CHARS_SHOWN)}…` : user_agent || say('profile.unknown'))}
        </Text>
        {current && <State tone="good">{say('profile.this')}</State>}
      </Group>
      <Text size="xs" className="soft mono">
        {address}
      </Text>
    </>
  );
}

/** Names that most user agents contain; the more specific first, since they name their ancestors too. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

function browserName(agent: string): string | undefined {
  const browser = BROWSERS.find(([mark]) => agent.includes(mark))?.[1];
  const system = SYSTEMS.find(([mark]) => agent.includes(mark))?.[1];
  return browser && [browser, system].filter(Boolean).join(' · ');
}

function End({ session: { id, current } }: { readonly session: Session }) {
  const say = useSay();
  return (
    <Confirm
      label={say('profile.end')}
      title={say('profile.endTitle')}
      act={() => api(`${PATH}/${id}`, { method: 'DELETE' })}
      changes={current ? [PATH, '/api/console/session'] : [PATH]}
    >
      {say(current ? 'profile.endThis' : 'profile.endAbout')}
    </Confirm>
  );
}
