import type { VendorWork } from '../vendor.ts';
import { image } from './image.ts';
import { video } from './video.ts';

export const work: VendorWork = { image, video };
