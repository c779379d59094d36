import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, send } from '../../../api/client.ts';
import type { ConfigCheck, ConfigVersionSummary } from '../../../api/schema.ts';
import type { JsonSchema } from './schema-options.ts';

export const CONFIG_PATH = '/api/admin/config';
const YAML = 'application/yaml';

/** What an applied document changes: everything that is told of upstreams and models. */
export const CHANGED_BY_CONFIG = [
  CONFIG_PATH,
  '/api/admin/upstreams',
  '/api/admin/overview',
  '/api/console/catalogue',
  '/api/hub/public/models',
] as const;

async function yamlAt(path: string, signal: AbortSignal): Promise<string> {
  return (await send(path, { query: { format: 'yaml' }, signal })).text();
}

/** The document in force as text, with secrets masked. */
export function useYaml() {
  return useQuery({ queryKey: [CONFIG_PATH, 'yaml'], queryFn: ({ signal }) => yamlAt(CONFIG_PATH, signal) });
}

export function useVersionYaml(version: string) {
  const path = `${CONFIG_PATH}/versions/${version}`;
  return useQuery({ queryKey: [path, 'yaml'], queryFn: ({ signal }) => yamlAt(path, signal) });
}

/** The version in force; the list is newest first. */
export function useVersionInForce() {
  const path = `${CONFIG_PATH}/versions`;
  return useQuery({
    queryKey: [path, 'first'],
    queryFn: async ({ signal }) => {
      const { data } = await api<{ data: readonly ConfigVersionSummary[] }>(path, { query: { limit: 1 }, signal });
      return data[0] ?? null;
    },
  });
}

export function useDocumentSchema() {
  const path = `${CONFIG_PATH}/schema`;
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => api<JsonSchema>(path, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Every problem of a text, or what applying it would change. The last answer stands until the next one comes. */
export function useCheck(text: string, isWanted: boolean) {
  const path = `${CONFIG_PATH}/check`;
  return useQuery({
    queryKey: [path, text],
    queryFn: ({ signal }) => api<ConfigCheck>(path, { method: 'POST', body: text, contentType: YAML, signal }),
    enabled: isWanted,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
}

export interface Applied {
  readonly version: number;
  readonly changes: readonly string[];
}

export function applyText(text: string): Promise<Applied> {
  return api<Applied>(CONFIG_PATH, { method: 'PUT', body: text, contentType: YAML });
}

export function applyVersion(version: number): Promise<Applied> {
  return api<Applied>(`${CONFIG_PATH}/versions/${version}/apply`, { method: 'POST' });
}
