import { readingCheck } from '../kit/credential-check.ts';
import type { Vendor } from '../vendor.ts';
import { image } from './image.ts';
import { LAST_TASK, video } from './video.ts';
import { wire } from './wire.ts';

/** Seedream's pictures and Seedance's clips. What is unverified of it is listed in docs/vendor-facts.md. */
export const ark: Vendor = {
  name: 'ark',
  address: 'versioned',
  apiKey: 'required',
  check: readingCheck(wire, 'a list of the account’s clips', LAST_TASK),
  image,
  video,
};
