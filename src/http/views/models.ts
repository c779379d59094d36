import { z } from 'zod';
import type { ListedModel } from '../../catalogue/index.ts';
import { unixSeconds } from '../../clock.ts';
import { ENDPOINTS, MODALITIES } from '../../configuration/index.ts';
import { pricingFields, unitOf } from '../../pricing/index.ts';
import type { Accepts } from '../../routing/index.ts';

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
    type: z.literal('model').describe('As clients of the Messages format read a model.'),
    created_at: z.iso.datetime().describe('The same time as `created`.'),
  })
  .meta({ id: 'Model' });

export const modelSchema = cardSchema;
/** The whole list is one page; the last three fields say so to clients that page. */
export const modelListSchema = z.strictObject({
  object: z.literal('list'),
  data: z.array(cardSchema),
  has_more: z.literal(false),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

export function modelListView(models: readonly ListedModel[]) {
  const data = models.map(modelView);
  return { object: 'list', data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

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
    type: 'model',
    created_at: model.createdAt.toISOString(),
  };
}

/** Null bounds nothing beyond the API itself. An empty list: the field is refused. */
const acceptsSchema = z.strictObject({
  slots: z.array(z.string()).describe('Media fields, and `generate_audio`.'),
  sizes: z.array(z.string()),
  resolutions: z.array(z.string()),
  aspect_ratios: z.array(z.string()),
  qualities: z.array(z.string()).nullable().describe('Null: any word goes to the model as it is.'),
  n_max: z.int().nullable(),
  seconds_max: z.number().nullable(),
  formats: z.array(z.string()).nullable(),
  voice_sample: z.enum(['required', 'optional']),
  voice_design: z.boolean(),
});

export const catalogueModelSchema = z
  .strictObject({
    ...cardSchema.shape,
    pricing: pricingFields.extend({ unit: z.string() }),
    context_tokens: z.int().nullable(),
    max_output_tokens: z.int().nullable(),
    accepts: acceptsSchema.describe('What at least one enabled upstream takes.'),
  })
  .meta({ id: 'CatalogueModel' });

export function catalogueModelView(model: ListedModel, accepts: Accepts) {
  const { quality_ratio } = model.pricing;
  return {
    ...modelView(model),
    pricing: { ...model.pricing, unit: unitOf(model.pricing) },
    context_tokens: model.context_tokens ?? null,
    max_output_tokens: model.max_output_tokens ?? null,
    accepts: {
      slots: accepts.slots,
      sizes: accepts.sizes,
      resolutions: accepts.resolutions,
      aspect_ratios: accepts.aspect_ratios,
      qualities: quality_ratio === undefined ? null : [...new Set([...Object.keys(quality_ratio), 'auto'])],
      n_max: accepts.n_max ?? null,
      seconds_max: accepts.seconds_max ?? null,
      formats: accepts.formats ?? null,
      voice_sample: accepts.voice_sample ?? 'optional',
      voice_design: accepts.voice_design,
    },
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
