import { UpstreamError } from '../../errors.ts';
import { readingCheck } from '../kit/credential-check.ts';
import { objectAt } from '../kit/json.ts';
import type { VendorWork } from '../vendor.ts';
import { image } from './image.ts';
import { music } from './music.ts';
import { video } from './video.ts';
import { wire } from './wire.ts';

const ORGANIZATION = '/v1/organization';

export const work: VendorWork = {
  check: readingCheck(wire, 'the limits of its organization', ORGANIZATION),
  // By name, those that the tier of the organization may call.
  listModels: async (upstream) => {
    const models = objectAt(objectAt(await wire.json(upstream, { path: ORGANIZATION }), 'tier'), 'models');
    if (models === undefined) throw new UpstreamError('garbled', 'a tier without "models"');
    return { ids: Object.keys(models), isWhole: true };
  },
  image,
  video,
  music,
};
