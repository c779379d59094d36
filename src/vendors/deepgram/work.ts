import { readingCheck } from '../kit/credential-check.ts';
import { stringAt } from '../kit/json.ts';
import { listingModels } from '../kit/model-list.ts';
import type { VendorWork } from '../vendor.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { parseVoice } from './voices.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its projects', '/v1/projects'),
  listModels: listingModels(wire, {
    path: () => '/v1/models',
    key: ['stt', 'tts'],
    name: (model) => routeNames(stringAt(model, 'canonical_name') ?? ''),
  }),
  speech,
  transcription,
};

/** A route may name a voice or its family, and the general model of a family by the family alone. */
function routeNames(name: string): readonly string[] {
  const family = parseVoice(name)?.family ?? name.replace(/-general$/, '');
  return name === '' ? [] : [name, family];
}
