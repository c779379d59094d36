import type { ListedVendor } from '../listed.ts';

/** Its media; its chat is a dialect of another format. What is unverified of it is listed in docs/vendor-facts.md. */
export const xai: ListedVendor = {
  name: 'xai',
  address: 'versioned',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
