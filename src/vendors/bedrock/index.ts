import type { ListedVendor } from '../listed.ts';
import { CREDENTIALS } from './terms.ts';

/** Models of many families behind AWS: chat by Converse, vectors by the families' own bodies. */
export const bedrock: ListedVendor = {
  name: 'bedrock',
  address: 'origin',
  apiKey: 'required',
  credentials: CREDENTIALS,
  load: () => import('./work.ts'),
};
