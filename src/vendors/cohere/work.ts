import { readingCheck } from '../kit/credential-check.ts';
import type { VendorWork } from '../vendor.ts';
import { chat } from './chat.ts';
import { embedding } from './embedding.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its models', '/v1/models?page_size=1'),
  chat,
  embedding,
};
