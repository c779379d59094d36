import type { ListedVendor } from '../listed.ts';

/** What is unverified of it is listed in docs/vendor-facts.md. */
export const ideogram: ListedVendor = {
  name: 'ideogram',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
