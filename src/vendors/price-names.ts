import { type Dialects, dialectOf } from './kit/dialects.ts';

/** Under which names public price lists keep the models that an upstream serves. */
export interface PriceNames {
  /** `litellm_provider`, and the first part of a row's name. */
  readonly litellm: readonly string[];
  /** The keys of `api.json`. */
  readonly modelsDev: readonly string[];
}

interface PricedUpstream {
  readonly vendor: string;
  readonly base_url?: string | undefined;
  readonly dialect?: string | undefined;
}

/** Servers that speak this vendor's format sell models of their own: there the dialect tells which list it is. */
const SHARED_FORMAT = 'openai';

/** Those that are not called as here. */
const OTHER_NAMES: Readonly<Record<string, PriceNames>> = {
  gemini: { litellm: ['gemini'], modelsDev: ['google'] },
  vertex: { litellm: ['vertex_ai'], modelsDev: ['google-vertex', 'google-vertex-anthropic'] },
  bedrock: { litellm: ['bedrock', 'bedrock_converse'], modelsDev: ['amazon-bedrock'] },
  azure: { litellm: ['azure', 'azure_ai'], modelsDev: ['azure', 'azure-cognitive-services'] },
  fal: { litellm: ['fal_ai'], modelsDev: ['fal'] },
  bfl: { litellm: ['black_forest_labs'], modelsDev: ['bfl'] },
  ark: { litellm: ['volcengine'], modelsDev: ['volcengine'] },
  runway: { litellm: ['runwayml'], modelsDev: ['runway'] },
  together: { litellm: ['together_ai'], modelsDev: ['togetherai'] },
  fireworks: { litellm: ['fireworks_ai'], modelsDev: ['fireworks-ai'] },
  jina: { litellm: ['jina_ai'], modelsDev: ['jina'] },
  dashscope: { litellm: ['dashscope'], modelsDev: ['alibaba', 'alibaba-cn'] },
};

/** None for a server whose maker is not known: what it is called says nothing of what it costs. */
export function priceNames({ vendor, base_url, dialect }: PricedUpstream, dialects: Dialects = {}): PriceNames {
  const name = vendor === SHARED_FORMAT ? dialectOf({ dialect, address: base_url ?? '' }, dialects) : vendor;
  if (name === undefined) return { litellm: [], modelsDev: [] };
  return OTHER_NAMES[name] ?? { litellm: [name], modelsDev: [name] };
}
