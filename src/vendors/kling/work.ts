import { readingCheck } from '../kit/credential-check.ts';
import type { VendorWork } from '../vendor.ts';
import { image } from './image.ts';
import { video } from './video.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of the account’s clips', '/v1/videos/text2video?pageNum=1&pageSize=1'),
  image,
  video,
};
