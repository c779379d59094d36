import { readingCheck } from '../kit/credential-check.ts';
import type { VendorWork } from '../vendor.ts';
import { image } from './image.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'the account of its key', '/users/me'),
  image,
};
