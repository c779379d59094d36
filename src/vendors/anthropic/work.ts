import { chatOver, wire } from '../formats/messages/index.ts';
import { readingCheck } from '../kit/credential-check.ts';
import { stringAt } from '../kit/json.ts';
import { byId, listingModels } from '../kit/model-list.ts';
import type { VendorWork } from '../vendor.ts';
import { messages } from './passed.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its models', '/v1/models?limit=1'),
  listModels: listingModels(wire, {
    path: (next) => `/v1/models?limit=1000${next === undefined ? '' : `&after_id=${encodeURIComponent(next)}`}`,
    key: 'data',
    name: byId,
    next: (answer) => (answer.has_more === true ? stringAt(answer, 'last_id') : undefined),
  }),
  chat: chatOver(wire),
  messages,
};
