import type { ListedVendor } from '../listed.ts';

/** Chat and vectors by Cohere's second interface, which has messages, events and vectors of its own. */
export const cohere: ListedVendor = {
  name: 'cohere',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
