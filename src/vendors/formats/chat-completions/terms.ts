import type { Dialects } from '../../kit/dialects.ts';

/**
 * By the host's registered name. All other hosts are taken at their word, and so is what is called `openai`, which speaks
 * the responses format as well. Servers that an operator runs have no host of their own: the configuration names them.
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
  dashscope: ['aliyuncs.com'],
  vllm: [],
  ollama: ['ollama.com'],
  'llama.cpp': [],
  'lm-studio': [],
  tei: [],
} as const satisfies Dialects;

/** None of these hosts takes a call without a key. */
export const KEYED_HOSTS: readonly string[] = Object.values(DIALECTS).flat();
