import { readingCheck } from '../kit/credential-check.ts';
import type { Vendor } from '../vendor.ts';
import { chatOver, embeddingOver, imageOver, speechOver, transcriptionOver } from './format.ts';
import { DIALECTS } from './terms.ts';
import { responses } from './responses.ts';
import { wire } from './wire.ts';

/** Servers that only speak this format often run without a key. */
export const openai: Vendor = {
  name: 'openai',
  address: 'versioned',
  apiKey: 'optional',
  dialects: DIALECTS,
  check: readingCheck(wire, 'a list of its models', '/models'),
  chat: chatOver(wire),
  responses,
  embedding: embeddingOver(wire),
  image: imageOver(wire),
  speech: speechOver(wire),
  transcription: transcriptionOver(wire),
};
