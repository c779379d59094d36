import { z } from 'zod';
import { GROUPS_MAX, MODEL_ID_CHARS_MAX, NAME_CHARS_MAX } from '../limits.ts';
import { pricingSchema, pricingWarnings } from '../pricing/index.ts';
import { acceptsSchema, distinctListOf, routeAcceptsSchema } from './accepts.ts';
import { crossFindings } from './cross-checks.ts';
import { pathText } from './problems.ts';
import type { VendorTerms } from './vendor-terms.ts';
import { ENDPOINTS, MODALITIES } from './vocabulary.ts';
import { shapeFindings } from './wording.ts';
import { readYaml } from './yaml.ts';

const PRIORITY_MAX = 1_000_000;
const WEIGHT_MAX = 1_000_000;
const TIMEOUT_SECONDS_MAX = 3600;
const ADDRESS_CHARS_MAX = 2048;
const API_KEY_CHARS_MAX = 4096;
const DESCRIPTION_CHARS_MAX = 4000;
const TOKENS_MAX = 100_000_000;

const upstreamId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'expected 1 to 63 letters, digits, dots, dashes and underscores');

const groupName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'expected 1 to 63 small letters, digits, dashes and underscores');

/** Names go into paths, so nothing in them may mean something there. */
const modelName = z
  .string()
  .min(1)
  .max(MODEL_ID_CHARS_MAX)
  .regex(/^[\x21-\x7e]*$/, 'expected printable ASCII without spaces')
  .regex(/^[^?#%]*$/, 'expected a name without ?, # and %')
  .regex(/^(?!\/)(?!.*\/$)(?!.*\/\/)/, 'expected no slash at either end and no two in a row')
  .refine((name) => !name.split('/').some((part) => part === '.' || part === '..'), 'expected no . or .. segment');

const label = z.string().max(NAME_CHARS_MAX);

// What the address may be depends on the vendor and is checked with it.
const address = z.string().max(ADDRESS_CHARS_MAX).transform(canonicalAddress);

const upstreamSchema = z.strictObject({
  id: upstreamId,
  vendor: z.string(),
  base_url: address.optional(),
  dialect: z.string().optional(),
  api_key: z
    .string()
    .max(API_KEY_CHARS_MAX)
    .regex(/^[\x21-\x7e]+$/, 'expected printable ASCII without spaces')
    .optional(),
  groups: distinctListOf(groupName).min(1).max(GROUPS_MAX).default(['default']),
  priority: z.int().min(-PRIORITY_MAX).max(PRIORITY_MAX).default(0),
  weight: z.number().positive().max(WEIGHT_MAX).default(1),
  timeout_seconds: z.number().min(1).max(TIMEOUT_SECONDS_MAX).default(120),
  enabled: z.boolean().default(true),
});

const routeSchema = z.strictObject({
  upstream: z.string(),
  model: modelName,
  accepts: routeAcceptsSchema.optional(),
});

const modelSchema = z.strictObject({
  id: modelName,
  modality: z.enum(MODALITIES),
  owned_by: label.min(1),
  display_name: label.default(''),
  description: z.string().max(DESCRIPTION_CHARS_MAX).default(''),
  tags: distinctListOf(label.min(1)).default([]),
  endpoints: distinctListOf(z.enum(ENDPOINTS)).min(1),
  context_tokens: z.int().positive().max(TOKENS_MAX).optional(),
  max_output_tokens: z.int().positive().max(TOKENS_MAX).optional(),
  pricing: pricingSchema,
  accepts: acceptsSchema.prefault({}),
  routes: z.array(routeSchema).min(1),
});

const documentSchema = z.strictObject({
  upstreams: z.array(upstreamSchema),
  models: z.array(modelSchema),
});

/** Upstreams and models as an operator writes them, with every default filled in. */
export type ConfigDocument = z.infer<typeof documentSchema>;
export type ConfigUpstream = ConfigDocument['upstreams'][number];
export type ConfigModel = ConfigDocument['models'][number];

/** Reads a document from YAML or JSON. Throws DocumentError with every problem. The caller bounds the text's size. */
export function parseDocument(text: string, vendors: readonly VendorTerms[]): ConfigDocument {
  const source = readYaml(text);
  source.refuse([...shapeFindings(documentSchema, source.value), ...crossFindings(source.value, vendors)]);
  return documentSchema.parse(source.value);
}

/** What is lawful in a document and probably not meant, one line each. Never holds a secret's value. */
export function documentWarnings({ models }: ConfigDocument): readonly string[] {
  return models.flatMap(({ pricing }, index) =>
    pricingWarnings(pricing).map(
      ({ path, message }) => `${pathText(['models', index, 'pricing', ...path])}: ${message}`,
    ),
  );
}

/** Two spellings of one address become the same text, so that addresses can be compared and joined with paths. */
function canonicalAddress(text: string): string {
  return (URL.canParse(text) ? new URL(text).href : text).replace(/\/+$/, '');
}
