import { useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { Overview } from '../../../api/schema.ts';

const PATH = '/api/admin/overview';
const REFRESH_MS = 15_000;

/** The deployment at a glance, since midnight UTC. */
export function useOverview() {
  return useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => api<Overview>(PATH, { signal }),
    refetchInterval: REFRESH_MS,
  });
}
