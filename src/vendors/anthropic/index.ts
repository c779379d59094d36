import type { ListedVendor } from '../listed.ts';

export const anthropic: ListedVendor = {
  name: 'anthropic',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
