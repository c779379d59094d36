import type { Fields } from './documents.ts';
import type { Gateway } from './gateway.ts';

/** What an operator sees of an upstream as a whole, and of the first model on its wire. */
export async function upstreamHealth(gateway: Gateway, id: string): Promise<{ whole: Fields; model: Fields }> {
  const { data } = (await gateway.admin('GET', '/upstreams')).json;
  const { health, upstream_models } = data.find((upstream: { id: string }) => upstream.id === id);
  return { whole: health, model: upstream_models[0].health };
}
