import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { dialectOf } from '../kit/dialects.ts';
import type { Upstream } from '../kit/http.ts';
import { requiredString } from '../kit/json.ts';
import { ownUrl } from '../kit/wire.ts';
import { DIALECTS } from './terms.ts';

/** Unverified beyond the global one, the two regions and `us1`: which numbered hosts there are. */
const REGIONS: readonly string[] = ['', 'us.', 'us1.', 'us2.', 'us3.', 'us4.', 'eu.', 'eu1.', 'eu2.', 'eu3.', 'eu4.'];
const BFL_ORIGINS: readonly string[] = REGIONS.map((region) => `https://api.${region}bfl.ai`);

/** Throws UpstreamError for an address that the key must not be sent to. */
export function statusUrl(address: JsonObject[string] | undefined, upstream: Upstream): URL {
  return ownUrl(address, upstream, dialectOf(upstream, DIALECTS) === 'bfl' ? BFL_ORIGINS : []);
}

/**
 * Where an accepted task is asked after. One region may not know another's tasks, so the address in the answer comes first;
 * where it is absent or leads elsewhere, the task is asked after where it was submitted, since it is paid for by then.
 */
export function statusUrlIn(answer: JsonObject, upstream: Upstream): URL {
  const id = requiredString(answer, 'id');
  const url = urlIfOwn(answer.polling_url, upstream) ?? new URL(`${upstream.address}/v1/get_result`);
  if (!url.searchParams.has('id')) url.searchParams.set('id', id);
  return url;
}

function urlIfOwn(address: JsonObject[string] | undefined, upstream: Upstream): URL | undefined {
  try {
    return statusUrl(address, upstream);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return undefined;
  }
}
