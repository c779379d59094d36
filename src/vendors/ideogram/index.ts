import type { ListedVendor } from '../listed.ts';

/** Pictures, pictures by another one, and edits with a mask. What is unverified of it is listed in docs/vendor-facts.md. */
export const ideogram: ListedVendor = {
  name: 'ideogram',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
