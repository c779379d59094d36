import type { Vendor } from '../vendor.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';

export const elevenlabs: Vendor = { name: 'elevenlabs', address: 'origin', apiKey: 'required', speech, transcription };
