import type { Vendor } from '../vendor.ts';

/** Besides an API key: a user's key, and whatever AWS's own chain finds for the process. Both sign each request. */
export const CREDENTIALS = {
  /** `api_key` is the secret of it. */
  access_key: { apiKey: 'required', settings: { access_key_id: 'required', region: 'optional' } },
  /** Environment, profile, web identity file, container, machine: in the library's own order. */
  default_chain: { apiKey: 'none', settings: { profile: 'optional', region: 'optional' } },
} as const satisfies Vendor['credentials'];
