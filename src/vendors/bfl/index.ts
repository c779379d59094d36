import type { Vendor } from '../vendor.ts';
import { DIALECTS } from './terms.ts';
import { image } from './image.ts';

/** Pictures of the FLUX models, made in a queue. What is unverified of it is listed in docs/vendor-facts.md. */
export const bfl: Vendor = { name: 'bfl', address: 'origin', apiKey: 'required', dialects: DIALECTS, image };
