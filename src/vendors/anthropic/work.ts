import { readingCheck } from '../kit/credential-check.ts';
import type { VendorWork } from '../vendor.ts';
import { chatOver } from './chat.ts';
import { messages } from './passed.ts';
import { wire } from './wire.ts';

export const work: VendorWork = {
  check: readingCheck(wire, 'a list of its models', '/v1/models?limit=1'),
  chat: chatOver(wire),
  messages,
};
