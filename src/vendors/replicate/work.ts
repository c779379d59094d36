import { readingCheck } from '../kit/credential-check.ts';
import { withQuery } from '../kit/forms.ts';
import { stringAt } from '../kit/json.ts';
import { cursorAt, listingModels } from '../kit/model-list.ts';
import type { VendorWork } from '../vendor.ts';
import { image } from './image.ts';
import { music } from './music.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { video } from './video.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'the account', '/account'),
  listModels: listingModels(wire, {
    path: (cursor) => withQuery('/models', { cursor }),
    key: 'results',
    name: (model) => `${stringAt(model, 'owner')}/${stringAt(model, 'name')}`,
    next: (answer) => cursorAt(answer, 'next'),
  }),
  image,
  video,
  music,
  speech,
  transcription,
};
