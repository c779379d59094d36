import type { ListedVendor } from '../listed.ts';

/** Pictures, edits of pictures, and music without words. What is unverified of it is listed in docs/vendor-facts.md. */
export const stability: ListedVendor = {
  name: 'stability',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
