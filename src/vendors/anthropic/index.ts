import type { Vendor } from '../vendor.ts';

export const anthropic: Vendor = { name: 'anthropic', address: 'origin', apiKey: 'required' };
