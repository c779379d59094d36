import { loadVendor, vendors } from '../../src/vendors/index.ts';

/** Every vendor of the program with its work. */
export const loadedVendors = await Promise.all(vendors.map(loadVendor));
