import type { ListedVendor } from '../listed.ts';

/**
 * No dialect of another format: only its pictures from words have a common path, while sizes, edits, seeds and formats have
 * names of their own. What is unverified of it is listed in docs/vendor-facts.md.
 */
export const recraft: ListedVendor = {
  name: 'recraft',
  address: 'versioned',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
