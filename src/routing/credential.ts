import { isDeepStrictEqual } from 'node:util';

/** What identifies the account at a vendor: with another address, secret or kind of proof it begins anew, as well as can be. */
export interface Credential {
  readonly upstreamId: string;
  readonly address: string;
  readonly apiKey: string;
  readonly credential?: Readonly<Record<string, string>> | undefined;
}

export function isSameCredential(one: Credential, other: Credential): boolean {
  const isSameKey = one.address === other.address && one.apiKey === other.apiKey;
  return isSameKey && (one.credential === other.credential || isDeepStrictEqual(one.credential, other.credential));
}
