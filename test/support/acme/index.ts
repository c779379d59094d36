import type { Vendor } from '../../../src/vendors/vendor.ts';
import { image } from './image.ts';

/** The example of docs/adding-a-vendor.md. */
export const acme: Vendor = { name: 'acme', address: 'origin', apiKey: 'required', image };
