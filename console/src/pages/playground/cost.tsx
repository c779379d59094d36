import { Anchor, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useBalance } from '../../api/account.ts';
import { useRefresh } from '../../kit/confirm.tsx';
import { Credits } from '../../kit/values.tsx';
import { useSay } from '../../text.tsx';
import { findRequest } from './run.ts';

const LOOK_AGAIN_MS = 700;
const LOOKS_MAX = 20;

interface CostProps {
  readonly requestId: string | undefined;
  /** What the answer said; of a stream that was stopped, the ledger is asked. */
  readonly credits: number | undefined;
}

/** What the call cost, what is left, and the way to its receipt. */
export function Cost({ requestId, credits }: CostProps) {
  const say = useSay();
  const balance = useBalance(true);
  const found = useQuery({
    queryKey: ['/api/console/requests', 'of', requestId],
    queryFn: async ({ signal }) => (await findRequest(requestId ?? '', signal)) ?? null,
    enabled: requestId !== undefined && requestId !== '',
    // The log of requests is written a moment after the answer.
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      (data === undefined || data === null || data.state === 'running') && dataUpdateCount < LOOKS_MAX
        ? LOOK_AGAIN_MS
        : false,
  });
  const request = found.data ?? undefined;
  const refresh = useRefresh();
  // What a stopped call held comes back a moment later.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is settled or refunded.
  useEffect(() => {
    if (request !== undefined && request.state !== 'running') void refresh(['/api/console/credits']);
  }, [request?.state]);
  const cost = credits ?? (request === undefined || request.state === 'running' ? undefined : (request.credits ?? 0));
  if (cost === undefined && requestId === undefined) return null;
  return (
    <Group gap="md" className="cost" role="status">
      <Text size="sm">
        {say('playground.cost')}{' '}
        <strong data-testid="cost">
          <Credits value={cost} />
        </strong>{' '}
        {say('unit.credits')}
      </Text>
      <Text size="sm" className="soft">
        {say('playground.left')}{' '}
        <span data-testid="left">
          <Credits value={balance.isFetching ? undefined : balance.data?.available} />
        </span>
      </Text>
      {request !== undefined && (
        <Anchor component={Link} to={`/console/activity/${request.id}`} size="sm" c="inherit" underline="always">
          {say('playground.receipt')}
        </Anchor>
      )}
    </Group>
  );
}
