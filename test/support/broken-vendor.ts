import type { VendorWork } from '../../src/vendors/index.ts';

export const work: VendorWork = {};

throw new Error('its signing library is not installed');
