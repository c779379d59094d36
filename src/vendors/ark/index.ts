import type { ListedVendor } from '../listed.ts';

/** Seedream's pictures and Seedance's clips. What is unverified of it is listed in docs/vendor-facts.md. */
export const ark: ListedVendor = {
  name: 'ark',
  address: 'versioned',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
