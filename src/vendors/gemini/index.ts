import type { Vendor } from '../vendor.ts';
import { chat } from './chat.ts';
import { embedding } from './embedding.ts';
import { native } from './native.ts';

export const gemini: Vendor = { name: 'gemini', address: 'origin', apiKey: 'required', chat, native, embedding };
