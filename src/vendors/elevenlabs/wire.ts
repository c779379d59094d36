import { send, type Upstream, type UpstreamCall, type UpstreamReply } from '../http.ts';
import { faultOf } from './faults.ts';

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
