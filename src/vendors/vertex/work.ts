import type { VendorWork } from '../vendor.ts';
import { chat } from './chat.ts';
import { embedding } from './embedding.ts';
import { image, speech } from './media.ts';
import { native } from './native.ts';
import { video } from './video.ts';

export const work: VendorWork = { chat, native, embedding, image, video, speech };
