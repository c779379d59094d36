import type { VendorWork } from '../vendor.ts';
import { chat } from './chat.ts';
import { embedding } from './embedding.ts';
import { image } from './image.ts';

export const work: VendorWork = { chat, embedding, image };
