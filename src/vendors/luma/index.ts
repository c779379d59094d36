import type { ListedVendor } from '../listed.ts';

/** Photon and Ray, by the Dream Machine interface. What is unverified of it is listed in docs/vendor-facts.md. */
export const luma: ListedVendor = {
  name: 'luma',
  address: 'versioned',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
