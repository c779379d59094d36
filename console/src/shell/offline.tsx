import { Button, Group, Text } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { Refusal } from '../api/client.ts';
import { useSay } from '../text.tsx';

/** Says that what is shown may be old. Queries go on by themselves when the network is back. */
export function Offline() {
  const say = useSay();
  const client = useQueryClient();
  const { online } = useNetwork();
  const isUnreachable = useUnreachable(client);
  if (online && !isUnreachable) return null;
  return (
    <Group role="status" gap="sm" mb="md">
      <Text size="sm" fw={600} style={{ color: 'var(--warn)' }}>
        {say(online ? 'state.silent' : 'state.offline')}
      </Text>
      {online && (
        <Button variant="default" size="compact-sm" onClick={() => void client.refetchQueries({ type: 'active' })}>
          {say('state.retry')}
        </Button>
      )}
    </Group>
  );
}

/** The last attempt to read something on this page got no answer at all, as while the gateway is restarted. */
function useUnreachable(client: QueryClient): boolean {
  const cache = client.getQueryCache();
  return useSyncExternalStore(
    (changed) => cache.subscribe(changed),
    () =>
      cache
        .getAll()
        .some(({ state: { error, data } }) => error !== null && data !== undefined && !(error instanceof Refusal)),
  );
}
