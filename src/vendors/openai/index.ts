import type { Vendor } from '../vendor.ts';
import { chat } from './chat.ts';
import { image } from './image.ts';
import { DIALECTS } from './request.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';

/** Servers that only speak this format often run without a key. */
export const openai: Vendor = {
  name: 'openai',
  address: 'versioned',
  apiKey: 'optional',
  dialects: DIALECTS,
  chat,
  image,
  speech,
  transcription,
};
