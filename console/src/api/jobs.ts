import { useQuery } from '@tanstack/react-query';
import { api } from './client.ts';
import type { Asset, Job } from './schema.ts';

const OPEN_REFRESH_MS = 1000;
/** Links to results work for 15 minutes; they are asked for anew before that. */
const LINKS_STALE_MS = 10 * 60_000;

export function isOpen({ status }: Pick<Job, 'status'>): boolean {
  return status === 'queued' || status === 'running';
}

/** A job, read again until it has ended. */
export function useJob(id: string | undefined) {
  const path = jobPath(id ?? '');
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<Job>(path, { signal }),
    enabled: id !== undefined,
    refetchInterval: ({ state: { data } }) => (data === undefined || isOpen(data) ? OPEN_REFRESH_MS : false),
  });
}

/** What a job has made. Nothing is left of it some time after its end. */
export function useAssets(job: Job | undefined) {
  const path = `${jobPath(job?.id ?? '')}/assets`;
  return useQuery({
    queryKey: [path],
    queryFn: async ({ signal }) => (await api<{ readonly items: readonly Asset[] }>(path, { signal })).items,
    enabled: job?.status === 'succeeded',
    staleTime: LINKS_STALE_MS,
    refetchInterval: LINKS_STALE_MS,
  });
}

export function jobPath(id: string): string {
  return `/api/console/jobs/${encodeURIComponent(id)}`;
}
