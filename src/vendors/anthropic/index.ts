import type { Vendor } from '../vendor.ts';
import { chat } from './chat.ts';

export const anthropic: Vendor = { name: 'anthropic', address: 'origin', apiKey: 'required', chat };
