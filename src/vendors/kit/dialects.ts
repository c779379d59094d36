import type { Upstream } from './http.ts';

/** By the name of a dialect, the registered names of the hosts that speak it unless the configuration says otherwise. */
export type Dialects = Readonly<Record<string, readonly string[]>>;

/** The last two labels of the host of an address. */
const REGISTERED_NAME = /^https?:\/\/(?:[^/?#]*[@.])?([^/?#:@.]+\.[^/?#:@.]+)(?:[/?#:]|$)/i;

/** The dialect that the configuration names, or else the host's; undefined where neither is known. */
export function dialectOf<Known extends Dialects>(
  { dialect, address }: Pick<Upstream, 'dialect' | 'address'>,
  known: Known,
): keyof Known | undefined {
  if (dialect !== undefined) return Object.hasOwn(known, dialect) ? dialect : undefined;
  const host = REGISTERED_NAME.exec(address)?.[1]?.toLowerCase() ?? '';
  return Object.keys(known).find((name) => known[name]?.includes(host));
}
