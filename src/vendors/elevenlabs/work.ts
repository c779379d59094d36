import { readingCheck } from '../kit/credential-check.ts';
import { stringAt } from '../kit/json.ts';
import { listingModels } from '../kit/model-list.ts';
import type { VendorWork } from '../vendor.ts';
import { music } from './music.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its voices', '/v2/voices?page_size=1'),
  // The answer is the bare list.
  listModels: listingModels(wire, {
    path: () => '/v1/models',
    key: 'models',
    name: (model) => stringAt(model, 'model_id'),
  }),
  music,
  speech,
  transcription,
};
