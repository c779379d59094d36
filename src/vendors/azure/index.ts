import type { ListedVendor } from '../listed.ts';
import { CREDENTIALS, DIALECTS } from './terms.ts';

/** The openai format under Azure's addresses, credentials and names of deployments. */
export const azure: ListedVendor = {
  name: 'azure',
  address: 'versioned',
  apiKey: 'required',
  credentials: CREDENTIALS,
  dialects: DIALECTS,
  load: () => import('./work.ts'),
};
