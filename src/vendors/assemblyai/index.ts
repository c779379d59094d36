import type { ListedVendor } from '../listed.ts';

export const assemblyai: ListedVendor = {
  name: 'assemblyai',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
