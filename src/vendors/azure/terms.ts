import type { Dialects } from '../kit/dialects.ts';
import type { Vendor } from '../vendor.ts';

/** Dated versions of the interface, in which the deployment stands in the path; without one it is `/openai/v1`. */
export const DIALECTS = { '2024-10-21': [], '2025-04-01-preview': [] } as const satisfies Dialects;

/** Besides the resource's own key: an application's secret, and the two identities that Azure gives to a process. */
export const CREDENTIALS = {
  client_secret: {
    apiKey: 'required',
    settings: { tenant_id: 'required', client_id: 'required', authority: 'optional', scope: 'optional' },
  },
  workload_identity: {
    apiKey: 'none',
    settings: { tenant_id: 'optional', client_id: 'optional', scope: 'optional' },
  },
  managed_identity: { apiKey: 'none', settings: { client_id: 'optional', scope: 'optional' } },
} as const satisfies Vendor['credentials'];
