import type { Vendor } from '../vendor.ts';

export const gemini: Vendor = { name: 'gemini', address: 'origin', apiKey: 'required' };
