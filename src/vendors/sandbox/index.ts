import type { Vendor } from '../vendor.ts';

export const sandbox: Vendor = { name: 'sandbox', address: 'none', apiKey: 'none' };
