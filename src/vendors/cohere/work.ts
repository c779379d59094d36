import { readingCheck } from '../kit/credential-check.ts';
import { stringAt } from '../kit/json.ts';
import { listingModels } from '../kit/model-list.ts';
import type { VendorWork } from '../vendor.ts';
import { chat } from './chat.ts';
import { embedding } from './embedding.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its models', '/v1/models?page_size=1'),
  listModels: listingModels(wire, {
    path: (next) => `/v1/models?page_size=1000${next === undefined ? '' : `&page_token=${encodeURIComponent(next)}`}`,
    key: 'models',
    name: (model) => stringAt(model, 'name'),
    next: (answer) => stringAt(answer, 'next_page_token') || undefined,
  }),
  chat,
  embedding,
};
