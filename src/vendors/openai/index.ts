import type { ListedVendor } from '../listed.ts';
import { DIALECTS } from './terms.ts';

/** Servers that only speak this format often run without a key. */
export const openai: ListedVendor = {
  name: 'openai',
  address: 'versioned',
  apiKey: 'optional',
  dialects: DIALECTS,
  load: () => import('./work.ts'),
};
