import type { ListedVendor } from '../listed.ts';

export const cartesia: ListedVendor = {
  name: 'cartesia',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
