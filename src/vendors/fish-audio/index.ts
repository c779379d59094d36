import type { ListedVendor } from '../listed.ts';

export const fishAudio: ListedVendor = {
  name: 'fish-audio',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
