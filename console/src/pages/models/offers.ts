import { useCatalogue, usePublicModels } from '../../api/catalogue.ts';
import type { Endpoint } from '../../api/endpoints.ts';
import type { CatalogueModel, PublicPricing } from '../../api/schema.ts';
import { useSession } from '../../api/session.ts';

/** A model as a visitor or a signed-in person sees it; a visitor is not told what it accepts. */
export interface Offer {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly modality: CatalogueModel['modality'];
  readonly endpoints: readonly Endpoint[];
  readonly pricing: PublicPricing;
  readonly card?: CatalogueModel;
}

/** The models of the account, or of the public list for those without one. */
export function useOffers() {
  const session = useSession();
  const hasAccount = session?.account !== null && session?.account !== undefined;
  const catalogue = useCatalogue(hasAccount);
  const list = usePublicModels(session !== undefined && !hasAccount);
  return hasAccount
    ? { ...catalogue, data: catalogue.data?.map(offerOfCard) }
    : { ...list, data: list.data?.map(offerOfEntry) };
}

function offerOfCard(card: CatalogueModel): Offer {
  const { id, display_name, description, tags, modality, endpoints, pricing } = card;
  return { id, name: display_name || id, description, tags, modality, endpoints, pricing, card };
}

function offerOfEntry(entry: NonNullable<ReturnType<typeof usePublicModels>['data']>[number]): Offer {
  const { name, modality, endpoints, pricing } = entry;
  return { id: name, name, description: '', tags: [], modality, endpoints, pricing };
}
