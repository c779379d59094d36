import type { Vendor } from '../vendor.ts';

/** Besides a plain key: a pair of keys, of which the secret one signs tokens of half an hour. */
export const CREDENTIALS = {
  /** `api_key` is the secret key. */
  access_key: { apiKey: 'required', settings: { access_key_id: 'required' } },
} as const satisfies Vendor['credentials'];
