import type { ListedVendor } from '../listed.ts';
import { DIALECTS } from './terms.ts';

export const fal: ListedVendor = {
  name: 'fal',
  address: 'origin',
  apiKey: 'required',
  dialects: DIALECTS,
  load: () => import('./work.ts'),
};
