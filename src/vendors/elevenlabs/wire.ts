import type { JsonValue } from '../../json.ts';
import { send, type Upstream, type UpstreamCall, type UpstreamReply } from '../kit/http.ts';
import { faultOf } from './faults.ts';
import { textOf } from './fields.ts';

/** Every call is a POST with the key in a header of its own. */
export function post(
  upstream: Upstream,
  path: string,
  contentType: string,
  body: NonNullable<UpstreamCall['body']>,
): Promise<UpstreamReply> {
  const headers = { 'content-type': contentType, accept: '*/*', 'xi-api-key': upstream.apiKey };
  return send(upstream, { method: 'POST', path, headers, body }, { faultOf });
}

export function withQuery(path: string, fields: Readonly<Record<string, JsonValue | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null) query.set(name, textOf(value));
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
