import { readingCheck } from '../kit/credential-check.ts';
import { stringAt } from '../kit/json.ts';
import { byId, listingModels } from '../kit/model-list.ts';
import type { VendorWork } from '../vendor.ts';
import { image } from './image.ts';
import { LAST_TASK, video } from './video.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of the account’s clips', LAST_TASK),
  listModels: listingModels(wire, {
    path: () => '/models',
    key: 'data',
    // Those that were shut down stay in the list.
    name: (model) => (stringAt(model, 'status') === 'Shutdown' ? undefined : byId(model)),
  }),
  image,
  video,
};
