import { readingCheck } from '../kit/credential-check.ts';
import type { Vendor } from '../vendor.ts';
import { image } from './image.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { video } from './video.ts';
import { wire } from './wire.ts';

/** Its media; its chat is a dialect of another format. What is unverified of it is listed in docs/vendor-facts.md. */
export const xai: Vendor = {
  name: 'xai',
  address: 'versioned',
  apiKey: 'required',
  check: readingCheck(wire, 'a list of its models', '/models'),
  image,
  video,
  speech,
  transcription,
};
