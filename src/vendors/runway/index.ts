import type { ListedVendor } from '../listed.ts';

/** Its own models and resold ones, every one of them a task. What is unverified of it is listed in docs/vendor-facts.md. */
export const runway: ListedVendor = {
  name: 'runway',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
