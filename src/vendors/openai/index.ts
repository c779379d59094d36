import { DIALECTS, KEYED_HOSTS } from '../formats/chat-completions/terms.ts';
import type { ListedVendor } from '../listed.ts';

/** Servers that only speak this format often run without a key. */
export const openai: ListedVendor = {
  name: 'openai',
  address: 'versioned',
  apiKey: 'optional',
  keyedHosts: KEYED_HOSTS,
  dialects: DIALECTS,
  load: () => import('./work.ts'),
};
