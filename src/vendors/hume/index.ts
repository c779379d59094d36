import type { ListedVendor } from '../listed.ts';

export const hume: ListedVendor = {
  name: 'hume',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
