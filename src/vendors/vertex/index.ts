import type { Vendor } from '../vendor.ts';
import { chat } from './chat.ts';
import { CREDENTIALS } from './terms.ts';
import { embedding } from './embedding.ts';
import { native } from './native.ts';

/** Models of Google and of Anthropic in a project of Google Cloud; the address names the project and the location. */
export const vertex: Vendor = {
  name: 'vertex',
  address: 'versioned',
  apiKey: 'required',
  credentials: CREDENTIALS,
  chat,
  native,
  embedding,
};
