import { readingCheck } from '../kit/credential-check.ts';
import { stringAt } from '../kit/json.ts';
import { listingModels } from '../kit/model-list.ts';
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
    path: (next) => `/models${next === undefined ? '' : `?cursor=${encodeURIComponent(next)}`}`,
    key: 'results',
    name: (model) => `${stringAt(model, 'owner')}/${stringAt(model, 'name')}`,
    next: (answer) => cursorIn(stringAt(answer, 'next') ?? ''),
  }),
  image,
  video,
  music,
  speech,
  transcription,
};

/** The next page is told as an address, of which its cursor alone is read. */
function cursorIn(address: string): string | undefined {
  return (URL.canParse(address) && new URL(address).searchParams.get('cursor')) || undefined;
}
