import { readingCheck } from '../kit/credential-check.ts';
import type { Vendor } from '../vendor.ts';
import { chat } from './chat.ts';
import { embedding } from './embedding.ts';
import { image } from './image.ts';
import { DIALECTS } from './request.ts';
import { responses } from './responses.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';
import { wire } from './wire.ts';

/** Servers that only speak this format often run without a key. */
export const openai: Vendor = {
  name: 'openai',
  address: 'versioned',
  apiKey: 'optional',
  dialects: DIALECTS,
  check: readingCheck(wire, 'a list of its models', '/models'),
  chat,
  responses,
  embedding,
  image,
  speech,
  transcription,
};
