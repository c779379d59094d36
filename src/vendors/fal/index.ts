import type { Vendor } from '../vendor.ts';

export const fal: Vendor = { name: 'fal', address: 'origin', apiKey: 'required' };
