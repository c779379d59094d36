import { useQuery } from '@tanstack/react-query';
import { api } from './client.ts';
import type { CatalogueModel, PublicList } from './schema.ts';

export type Endpoint = CatalogueModel['endpoints'][number];

/** The endpoints that the playground has; the native format has no place in it. */
export const PLAYGROUND_ENDPOINTS = [
  'chat',
  'images',
  'image_edits',
  'videos',
  'audio_speech',
  'audio_music',
  'transcriptions',
] as const satisfies readonly Endpoint[];
export type PlaygroundEndpoint = (typeof PLAYGROUND_ENDPOINTS)[number];

/** Every model that the account reaches, with all that can be asked of it. */
export function useCatalogue(isWanted = true) {
  return useQuery({
    queryKey: ['/api/console/catalogue'],
    queryFn: async ({ signal }) =>
      (await api<{ readonly data: readonly CatalogueModel[] }>('/api/console/catalogue', { signal })).data,
    enabled: isWanted,
    staleTime: 60_000,
  });
}

/** What visitors may know: names, kinds, endpoints and prices. */
export function usePublicModels(isWanted = true) {
  return useQuery({
    queryKey: ['/api/hub/public/models'],
    queryFn: async ({ signal }) => (await api<PublicList>('/api/hub/public/models', { signal })).data,
    enabled: isWanted,
    staleTime: 60_000,
  });
}
