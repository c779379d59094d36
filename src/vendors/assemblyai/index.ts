import type { Vendor } from '../vendor.ts';
import { transcription } from './transcription.ts';

export const assemblyai: Vendor = { name: 'assemblyai', address: 'origin', apiKey: 'required', transcription };
