import { useQuery } from '@tanstack/react-query';
import { api } from './client.ts';
import type { CreditBalance } from './schema.ts';

/** The account's balance, read again after whatever spends. */
export function useBalance(isWanted: boolean) {
  return useQuery({
    queryKey: ['/api/console/credits'],
    queryFn: ({ signal }) => api<CreditBalance>('/api/console/credits', { signal }),
    enabled: isWanted,
    refetchInterval: 30_000,
  });
}
