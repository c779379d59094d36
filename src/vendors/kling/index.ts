import { readingCheck } from '../kit/credential-check.ts';
import type { Vendor } from '../vendor.ts';
import { CREDENTIALS } from './credential.ts';
import { image } from './image.ts';
import { video } from './video.ts';
import { wire } from './wire.ts';

/** Clips and pictures, made in queues. What is unverified of it is listed in docs/vendor-facts.md. */
export const kling: Vendor = {
  name: 'kling',
  address: 'origin',
  apiKey: 'required',
  credentials: CREDENTIALS,
  check: readingCheck(wire, 'a list of the account’s clips', '/v1/videos/text2video?pageNum=1&pageSize=1'),
  image,
  video,
};
