import type { ListedVendor } from '../listed.ts';

/** Text and media of one vendor. What is unverified of it is listed in docs/vendor-facts.md. */
export const gemini: ListedVendor = {
  name: 'gemini',
  address: 'origin',
  apiKey: 'required',
  load: () => import('./work.ts'),
};
