import type { Vendor } from '../vendor.ts';

export const assemblyai: Vendor = { name: 'assemblyai', address: 'origin', apiKey: 'required' };
