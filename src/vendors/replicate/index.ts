import type { ListedVendor } from '../listed.ts';

/** Models of many makers, each run as a prediction. What is unverified of it is listed in docs/vendor-facts.md. */
export const replicate: ListedVendor = {
  name: 'replicate',
  address: 'versioned',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
