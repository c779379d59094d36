import type { CredentialTerms } from './credentials.ts';
import type { Dialects } from './kit/dialects.ts';
import type { VendorWork } from './vendor.ts';

/** What an upstream of a vendor must be given: all that a configuration is checked against. */
export interface VendorTerms {
  /** For configuration and logs; never sent to a caller. */
  readonly name: string;
  /** With the version segment, the bare origin, or none because it runs inside this process. */
  readonly address: 'versioned' | 'origin' | 'none';
  readonly apiKey: 'required' | 'optional' | 'none';
  /** Registered names of hosts that take no call without a key, where `apiKey` is optional. */
  readonly keyedHosts?: readonly string[];
  /** By the `kind` of an upstream's `credential`: ways to prove who calls besides the key alone. */
  readonly credentials?: Readonly<Record<string, CredentialTerms>>;
  /** Ways in which servers of this format differ: an upstream's `dialect`, by the hosts whose default each is. */
  readonly dialects?: Dialects;
  /** Why no upstream can have it: what is not installed, and what to do. */
  readonly missing?: string;
}

/** A listed vendor: its terms are always in memory, its work once a configuration in force names it (ADR 0058). */
export interface ListedVendor extends VendorTerms {
  readonly load: () => Promise<{ readonly work: VendorWork }>;
}
