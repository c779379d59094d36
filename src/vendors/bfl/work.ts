import type { VendorWork } from '../vendor.ts';
import { image } from './image.ts';

export const work: VendorWork = { image };
