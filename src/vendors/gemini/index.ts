import type { Vendor } from '../vendor.ts';
import { chatOver } from './chat.ts';
import { embedding } from './embedding.ts';
import { nativeOver } from './native.ts';
import { wire } from './wire.ts';

export const gemini: Vendor = {
  name: 'gemini',
  address: 'origin',
  apiKey: 'required',
  chat: chatOver(wire),
  native: nativeOver(wire),
  embedding,
};
