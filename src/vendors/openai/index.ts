import type { ListedVendor } from '../listed.ts';
import { DIALECTS, KEYED_HOSTS } from './terms.ts';

/** Servers that only speak this format often run without a key. */
export const openai: ListedVendor = {
  name: 'openai',
  address: 'versioned',
  apiKey: 'optional',
  keyedHosts: KEYED_HOSTS,
  dialects: DIALECTS,
  load: () => import('./work.ts'),
};
