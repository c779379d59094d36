import { z } from 'zod';
import type { ListedModel } from '../../catalogue/index.ts';
import { unixSeconds } from '../../clock.ts';
import { ENDPOINTS, MODALITIES } from '../../configuration/index.ts';
import { pricingFields } from '../../pricing/index.ts';

const seconds = z.int().describe('Unix seconds.');

const cardSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('model'),
    created: seconds,
    owned_by: z.string(),
    modality: z.enum(MODALITIES),
    display_name: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    endpoints: z.array(z.enum(ENDPOINTS)),
    pricing: pricingFields.meta({ id: 'Pricing' }),
  })
  .meta({ id: 'Model' });

export const modelSchema = cardSchema;
export const modelListSchema = z.strictObject({ object: z.literal('list'), data: z.array(cardSchema) });

export function modelView(model: ListedModel) {
  return {
    id: model.id,
    object: 'model',
    created: unixSeconds(model.createdAt),
    owned_by: model.owned_by,
    modality: model.modality,
    display_name: model.display_name,
    description: model.description,
    tags: model.tags,
    endpoints: model.endpoints,
    pricing: model.pricing,
  };
}

export const publicListSchema = z
  .strictObject({
    object: z.literal('list'),
    count: z.int(),
    modalities: z.record(z.string(), z.int()),
    updated_at: seconds,
    data: z.array(
      z.strictObject({
        name: z.string(),
        modality: z.enum(MODALITIES),
        endpoints: z.array(z.enum(ENDPOINTS)),
        pricing: pricingFields.extend({ unit: z.string() }).meta({ id: 'PublicPricing' }),
      }),
    ),
  })
  .meta({ id: 'PublicList' });
