import type { Vendor } from '../vendor.ts';

/** Besides an API key of express mode: a service account's key, and whatever identity the process has. */
export const CREDENTIALS = {
  /** `api_key` is the JSON of the key as base64: it has spaces and line ends. */
  service_account: { apiKey: 'required', settings: { token_url: 'optional', quota_project: 'optional' } },
  application_default: { apiKey: 'none', settings: { quota_project: 'optional' } },
} as const satisfies Vendor['credentials'];
