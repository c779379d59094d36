import type { VendorWork } from '../../../src/vendors/vendor.ts';
import { image } from './image.ts';

export const work: VendorWork = { image };
