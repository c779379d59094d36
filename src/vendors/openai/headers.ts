import type { Upstream } from '../kit/http.ts';

/** A server without a key is sent no authorization. */
export function headersOf({ apiKey }: Upstream, accept: string): Record<string, string> {
  return apiKey === '' ? { accept } : { accept, authorization: `Bearer ${apiKey}` };
}
