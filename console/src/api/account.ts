import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from './client.ts';
import type { ApiKeyRecord, ConsoleAccount, CreditBalance, OauthGrant } from './schema.ts';

/** The account's balance, read again after whatever spends. */
export function useBalance(isWanted: boolean) {
  return useQuery({
    queryKey: ['/api/console/credits'],
    queryFn: ({ signal }) => api<CreditBalance>('/api/console/credits', { signal }),
    enabled: isWanted,
    refetchInterval: 30_000,
  });
}

/** What the account may have: its routing groups and rates. */
export function useAccount() {
  return useQuery({
    queryKey: ['/api/console/account'],
    queryFn: ({ signal }) => api<ConsoleAccount>('/api/console/account', { signal }),
  });
}

const LIST_MAX = 100;

/** The live keys; an account has at most 50. */
export function useKeys() {
  return useQuery({
    queryKey: ['/api/console/keys', 'all'],
    queryFn: ({ signal }) =>
      api<{ readonly data: readonly ApiKeyRecord[] }>('/api/console/keys', { query: { limit: LIST_MAX }, signal }),
  });
}

/** The names of live keys and apps by their ids, newest first. What is deleted has none. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const keys = useKeys();
  const grants = useQuery({
    queryKey: ['/api/console/oauth-grants', 'all'],
    queryFn: ({ signal }) =>
      api<{ readonly data: readonly OauthGrant[] }>('/api/console/oauth-grants', {
        query: { limit: LIST_MAX },
        signal,
      }),
  });
  return useMemo(
    () =>
      new Map([
        ...(keys.data?.data ?? []).map(({ id, name }) => [id, name] as const),
        ...(grants.data?.data ?? []).map(({ id, client }) => [id, client.name] as const),
      ]),
    [keys.data, grants.data],
  );
}
