import type { Catalogue } from '../catalogue/index.ts';
import { costPricing, type Pricing } from '../pricing/index.ts';

/** What a route costs as it is configured now; undefined where that is not stated, or the route is gone. */
export function routeCost(
  { catalogue: { snapshot } }: { readonly catalogue: Catalogue },
  modelId: string,
  upstreamId: string,
  upstreamModel: string,
): Pricing | undefined {
  const model = snapshot.document.models.find(({ id }) => id === modelId);
  const route = model?.routes.find(({ upstream, model: name }) => upstream === upstreamId && name === upstreamModel);
  return model === undefined || route?.cost === undefined ? undefined : costPricing(model.pricing, route.cost);
}
