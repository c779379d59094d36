import type { ListedVendor } from '../listed.ts';

export const deepgram: ListedVendor = {
  name: 'deepgram',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
