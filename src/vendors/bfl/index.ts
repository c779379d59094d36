import type { ListedVendor } from '../listed.ts';
import { DIALECTS } from './terms.ts';

/** Pictures and clips of the FLUX models, made in a queue. What is unverified of it is listed in docs/vendor-facts.md. */
export const bfl: ListedVendor = {
  name: 'bfl',
  address: 'origin',
  apiKey: 'required',
  dialects: DIALECTS,
  load: () => import('./work.ts'),
};
