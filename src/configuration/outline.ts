import { z } from 'zod';
import { acceptsSchema, routeAcceptsSchema } from './accepts.ts';
import { MODALITIES } from './vocabulary.ts';

const text = z.string().optional().catch(undefined);

const upstreamFields = z.object({
  id: text,
  vendor: text,
  base_url: z.unknown().optional(),
  dialect: z.unknown().optional(),
  api_key: z.unknown().optional(),
  credential: z.record(z.string(), z.unknown()).optional().catch(undefined),
});
const upstreamOutline = upstreamFields.catch(() => upstreamFields.parse({}));
export type UpstreamOutline = z.infer<typeof upstreamOutline>;

const routeFields = z.object({ upstream: text, model: text, accepts: routeAcceptsSchema.optional().catch(undefined) });
const routeOutline = routeFields.catch(() => routeFields.parse({}));
export type RouteOutline = z.infer<typeof routeOutline>;

const modelFields = z.object({
  id: text,
  modality: z.enum(MODALITIES).optional().catch(undefined),
  owned_by: text,
  endpoints: z.array(text).catch([]),
  pricing: z.object({ mode: text }).catch({ mode: undefined }),
  accepts: acceptsSchema.prefault({}).optional().catch(undefined),
  routes: z.array(routeOutline).catch([]),
});
const modelOutline = modelFields.catch(() => modelFields.parse({}));
export type ModelOutline = z.infer<typeof modelOutline>;

const outlineSchema = z.object({
  /** Undefined when the list cannot be read, which must not make every route look wrong. */
  upstreams: z.array(upstreamOutline).optional().catch(undefined),
  models: z.array(modelOutline).catch([]),
});

/** What can be read of a document, however much of it is wrong: never throws, and leaves out what does not fit. */
export function outlineOf(value: unknown): z.infer<typeof outlineSchema> {
  return outlineSchema.catch({ upstreams: undefined, models: [] }).parse(value);
}
