import { useQuery } from '@tanstack/react-query';
import { api } from './client.ts';
import type { CatalogueModel, PublicList } from './schema.ts';

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
