import type { Vendor } from '../vendor.ts';
import { chat } from './chat.ts';
import { CREDENTIALS } from './terms.ts';
import { embedding } from './embedding.ts';

/** Models of many families behind AWS: chat by Converse, vectors by the families' own bodies. */
export const bedrock: Vendor = {
  name: 'bedrock',
  address: 'origin',
  apiKey: 'required',
  credentials: CREDENTIALS,
  chat,
  embedding,
};
