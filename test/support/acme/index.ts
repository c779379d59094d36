import type { ListedVendor } from '../../../src/vendors/listed.ts';

/** The example of docs/adding-a-vendor.md. */
export const acme: ListedVendor = {
  name: 'acme',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
