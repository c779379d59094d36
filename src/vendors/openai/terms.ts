import type { Dialects } from '../kit/dialects.ts';

/**
 * By the host's registered name. All other hosts are taken at their word, and so is what is called `openai`, which speaks
 * the responses format as well.
 */
export const DIALECTS = {
  openai: ['openai.com'],
  mistral: ['mistral.ai'],
  deepseek: ['deepseek.com'],
  together: ['together.ai', 'together.xyz'],
  openrouter: ['openrouter.ai'],
  groq: ['groq.com'],
  xai: ['x.ai'],
  fireworks: ['fireworks.ai'],
  voyage: ['voyageai.com'],
  jina: ['jina.ai'],
} as const satisfies Dialects;
