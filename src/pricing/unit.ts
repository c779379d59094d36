import type { Pricing, PricingMode } from './pricing.ts';

const UNIT_OF_MODE: Readonly<Record<PricingMode, string>> = {
  per_image: 'image',
  per_request: 'request',
  per_second: 'second of output',
  per_token: 'thousand tokens',
  per_k_char: 'thousand characters',
  per_audio_second: 'second of audio',
};

/** What the headline number of a price is charged per, in words. */
export function unitOf(pricing: Pricing): string {
  return UNIT_OF_MODE[pricing.mode];
}
