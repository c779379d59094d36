import type { VendorWork } from '../vendor.ts';
import { chat } from './chat.ts';
import { embedding } from './embedding.ts';
import { native } from './native.ts';

export const work: VendorWork = { chat, native, embedding };
