import { missingPackage } from '../packages.ts';
import type { ListedVendor } from './listed.ts';

const missing = missingPackage('@tollgate/sandbox');

/** Of its package; where that is not installed, upstreams of it are refused. */
export const sandbox: ListedVendor = {
  name: 'sandbox',
  address: 'none',
  apiKey: 'none',
  ...(missing === undefined ? {} : { missing }),
  load: async () => ({ work: (await import('@tollgate/sandbox')).sandbox }),
};
