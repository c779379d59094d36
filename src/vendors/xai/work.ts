import { readingCheck } from '../kit/credential-check.ts';
import { byId, listingModels } from '../kit/model-list.ts';
import type { VendorWork } from '../vendor.ts';
import { image } from './image.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { video } from './video.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its models', '/models'),
  listModels: listingModels(wire, { path: () => '/models', key: 'data', name: byId }),
  image,
  video,
  speech,
  transcription,
};
