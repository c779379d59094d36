import type { ListedVendor } from '../listed.ts';
import { CREDENTIALS } from './terms.ts';

/** Models of Google and of Anthropic in a project of Google Cloud; the address names the project and the location. */
export const vertex: ListedVendor = {
  name: 'vertex',
  address: 'versioned',
  apiKey: 'required',
  credentials: CREDENTIALS,
  load: () => import('./work.ts'),
};
