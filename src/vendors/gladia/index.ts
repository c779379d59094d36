import type { ListedVendor } from '../listed.ts';

export const gladia: ListedVendor = {
  name: 'gladia',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
