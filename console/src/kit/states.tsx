import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Refusal } from '../api/client.ts';
import { useSay } from '../text.tsx';

const LINE_WIDTHS = ['92%', '81%', '70%', '59%', '48%', '37%'] as const;

export function Loading({ lines = 4 }: { readonly lines?: number }) {
  const say = useSay();
  return (
    <Stack gap="xs" p="md" role="status" aria-label={say('state.loading')}>
      {LINE_WIDTHS.slice(0, lines).map((width) => (
        <Skeleton key={width} height={14} width={width} />
      ))}
    </Stack>
  );
}

/** What stands where there is nothing yet: what would be here, and how to get it. */
export function Empty({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) {
  return (
    <Stack align="center" gap="sm" p="xl">
      <Text className="soft" ta="center" maw="34rem">
        {children}
      </Text>
      {action}
    </Stack>
  );
}

/** An error in the gateway's own words, with its code and request id, and a way to try again. */
export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const say = useSay();
  const refusal = error instanceof Refusal ? error : undefined;
  return (
    <Stack gap={6} p="md" role="alert">
      <Text fw={600} style={{ color: 'var(--bad)' }}>
        {refusal === undefined ? say('state.unreachable') : refusal.message}
      </Text>
      {refusal !== undefined && (
        <Text size="sm" className="soft mono">
          {refusal.code} · {refusal.requestId}
        </Text>
      )}
      {retry !== undefined && (
        <Group>
          <Button variant="default" size="xs" onClick={retry}>
            {say('state.retry')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

interface LoadedProps<Data> {
  readonly query: UseQueryResult<Data>;
  readonly lines?: number;
  readonly children: (data: Data) => ReactNode;
}

/** One of three: it is loading, it did not work, here it is. */
export function Loaded<Data>({ query, lines, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <Problem error={query.error} retry={() => void query.refetch()} />;
  return <Loading {...(lines === undefined ? {} : { lines })} />;
}
