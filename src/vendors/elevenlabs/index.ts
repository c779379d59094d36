import type { Vendor } from '../vendor.ts';

export const elevenlabs: Vendor = { name: 'elevenlabs', address: 'origin', apiKey: 'required' };
