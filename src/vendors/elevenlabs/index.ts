import type { ListedVendor } from '../listed.ts';
import { DIALECTS } from './terms.ts';

export const elevenlabs: ListedVendor = {
  name: 'elevenlabs',
  address: 'origin',
  apiKey: 'required',
  dialects: DIALECTS,
  load: () => import('./work.ts'),
};
