import type { Option } from '../command.ts';

/** Options that several commands have, each with one meaning. */
export const JSON_OPTION = { json: { summary: 'print one JSON object instead of lines' } };
export const REMOTE: Readonly<Record<string, Option>> = {
  url: { value: 'URL', summary: 'the gateway; TOLLGATE_URL or the last login unless set' },
  ...JSON_OPTION,
};
export const OUTPUT = { output: { short: 'o', value: 'FILE', summary: 'where the result goes; - is standard output' } };
export const MODEL = { model: { value: 'MODEL', summary: 'the first that can do it unless set' } };
export const TIMEOUT = { timeout: { value: 'SECONDS', summary: 'wait no longer; the job goes on' } };
export const LIMIT = { limit: { value: 'N', summary: 'so many of them, at most 100' } };
