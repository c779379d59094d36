/** Configuration documents as an operator would write them, small enough for one test each. */

export type Fields = Record<string, unknown>;

export interface WrittenDocument {
  readonly upstreams: readonly Fields[];
  readonly models: readonly Fields[];
}

/** An upstream that needs neither address nor key. */
export function sandbox(id: string, fields: Fields = {}): Fields {
  return { id, vendor: 'sandbox', ...fields };
}

/** An upstream that has an address and a key. */
export function keyed(id: string, api_key: string, fields: Fields = {}): Fields {
  return { id, vendor: 'anthropic', base_url: 'https://upstream.test', api_key, ...fields };
}

/** An image model with one route to each upstream named. */
export function imageModel(id: string, upstreams: readonly string[], fields: Fields = {}): Fields {
  return {
    id,
    modality: 'image',
    owned_by: 'studio',
    endpoints: ['images'],
    pricing: { mode: 'per_image', credits: { base: 40 } },
    routes: upstreams.map((upstream) => ({ upstream, model: 'wire-name' })),
    ...fields,
  };
}
