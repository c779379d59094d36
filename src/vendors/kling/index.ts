import type { ListedVendor } from '../listed.ts';
import { CREDENTIALS } from './terms.ts';

/** Clips and pictures, made in queues. What is unverified of it is listed in docs/vendor-facts.md. */
export const kling: ListedVendor = {
  name: 'kling',
  address: 'origin',
  apiKey: 'required',
  credentials: CREDENTIALS,
  load: () => import('./work.ts'),
};
