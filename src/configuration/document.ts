import { z } from 'zod';
import { withoutTrailingSlashes } from '../addresses.ts';
import { EMBEDDING_INPUTS_MAX, GROUPS_MAX, MODEL_ID_CHARS_MAX, NAME_CHARS_MAX } from '../limits.ts';
import { costIssues, costSchema, pricingSchema, pricingWarnings } from '../pricing/index.ts';
import { acceptsSchema, distinctListOf, routeAcceptsSchema } from './accepts.ts';
import { crossFindings } from './cross-checks.ts';
import { pathText } from './problems.ts';
import type { VendorTerms } from './vendor-terms.ts';
import { ENDPOINTS, MODALITIES, ROUTINGS } from './vocabulary.ts';
import { shapeFindings } from './wording.ts';
import { readYaml, type Source } from './yaml.ts';

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

const betaName = z.string().regex(/^(\*|[a-z0-9][a-z0-9.-]{0,63})$/, 'expected the name of a beta, or *');
const BETAS_MAX = 100;

/** It may go into a header or a form. */
const settingText = z
  .string()
  .min(1)
  .max(ADDRESS_CHARS_MAX)
  .regex(/^[\x21-\x7e]+$/, 'expected printable ASCII without spaces');

const upstreamSchema = z.strictObject({
  id: upstreamId.describe('Its name here, for routes and the log.'),
  vendor: z.string().describe('The wire format that it speaks.'),
  base_url: address.optional().describe('Where it is, with the version segment if the vendor has one.'),
  dialect: z.string().optional().describe('A variant of the format; without it, the one that the host is known for.'),
  betas: distinctListOf(betaName)
    .max(BETAS_MAX)
    .optional()
    .describe(
      'Betas of the vendor that callers may turn on, without their date; * is any. Without it, those that cost nothing.',
    ),
  embedding_inputs_max: z
    .int()
    .min(1)
    .max(EMBEDDING_INPUTS_MAX)
    .optional()
    .describe('The most texts of one embeddings request that it takes; larger requests go to it in parts.'),
  server_tools: z
    .boolean()
    .optional()
    .describe(
      'Callers may use tools that the vendor runs itself and files of its account; neither is in the price of tokens.',
    ),
  api_key: z
    .string()
    .max(API_KEY_CHARS_MAX)
    .regex(/^[\x21-\x7e]+$/, 'expected printable ASCII without spaces')
    .optional()
    .describe(`\${NAME} takes it from the environment; ******** keeps the one in force.`),
  credential: z
    .record(z.string(), settingText)
    .optional()
    .describe(
      'Another way to prove who calls than the key alone: its `kind`, and what that kind needs. Holds no secret: that is `api_key`.',
    ),
  groups: distinctListOf(groupName)
    .min(1)
    .max(GROUPS_MAX)
    .default(['default'])
    .describe('The routing groups whose accounts it serves.'),
  priority: z
    .int()
    .min(-PRIORITY_MAX)
    .max(PRIORITY_MAX)
    .default(0)
    .describe('Higher is asked first; lower ones when those fail.'),
  weight: z.number().positive().max(WEIGHT_MAX).default(1).describe('Share of the requests among equal priorities.'),
  timeout_seconds: z
    .number()
    .min(1)
    .max(TIMEOUT_SECONDS_MAX)
    .default(120)
    .describe('How long it may be silent before an attempt has failed.'),
  enabled: z.boolean().default(true).describe('False takes it out of service and keeps what is set.'),
});

const routeSchema = z.strictObject({
  upstream: z.string().describe('The id of an upstream.'),
  model: modelName.describe('The name that the model has there.'),
  accepts: routeAcceptsSchema.optional().describe('What this route narrows of what the model accepts.'),
  cost: costSchema
    .optional()
    .describe('What the upstream takes for it, in credits: rates as in `pricing.credits`; shown to operators only.'),
});

const modelFields = z.strictObject({
  id: modelName.describe('The public name that callers ask for.'),
  modality: z.enum(MODALITIES).describe('What it makes.'),
  owned_by: label.min(1).describe('Whose model it is, as callers read it; never a vendor or an upstream.'),
  display_name: label.default('').describe('Its name for people.'),
  description: z.string().max(DESCRIPTION_CHARS_MAX).default('').describe('What it is good for, in a sentence or two.'),
  tags: distinctListOf(label.min(1)).default([]).describe('Words to find it by.'),
  endpoints: distinctListOf(z.enum(ENDPOINTS)).min(1).describe('The routes that serve it.'),
  context_tokens: z.int().positive().max(TOKENS_MAX).optional().describe('The longest prompt and answer together.'),
  max_output_tokens: z.int().positive().max(TOKENS_MAX).optional().describe('The longest answer.'),
  pricing: pricingSchema.describe('What callers are charged, in credits.'),
  accepts: acceptsSchema.prefault({}).describe('What can be asked of it; what is not listed is refused.'),
  routing: z
    .enum(ROUTINGS)
    .optional()
    .describe('Which upstream of equal priority goes first: by weight (without it), by `cost`, or by measured speed.'),
  routes: z.array(routeSchema).min(1).describe('The upstreams that serve it.'),
});

/** A route's cost has the rates that the model's mode uses, and there is one to compare where costs decide. */
const modelSchema = modelFields.superRefine(({ pricing, routing, routes }, context) => {
  if (routing === 'cheapest' && routes.every(({ cost }) => cost === undefined)) {
    const message = 'expected a route with a cost: cheapest compares what routes cost, and none says so';
    context.addIssue({ code: 'custom', path: ['routing'], message });
  }
  for (const [index, { cost }] of routes.entries()) {
    const issues = cost === undefined ? [] : costIssues(pricing, cost);
    for (const { rate, message } of issues) {
      const path = ['routes', index, 'cost', ...(rate === undefined ? [] : [rate])];
      context.addIssue({ code: 'custom', path, message });
    }
  }
});

export const documentSchema = z.strictObject({
  upstreams: z.array(upstreamSchema).describe('The accounts at vendors that serve the models.'),
  models: z.array(modelSchema).describe('What is sold, by its public name.'),
});

/** Upstreams and models as an operator writes them, with every default filled in. */
export type ConfigDocument = z.infer<typeof documentSchema>;
export type ConfigUpstream = ConfigDocument['upstreams'][number];
export type ConfigModel = ConfigDocument['models'][number];

/** A checked document, and the text that it was read from, for what is found out about it later. */
export interface SourcedDocument extends Pick<Source, 'refuse'> {
  readonly document: ConfigDocument;
}

/** Reads a document from YAML or JSON. Throws DocumentError with every problem. The caller bounds the text's size. */
export function parseDocument(text: string, vendors: readonly VendorTerms[]): ConfigDocument {
  return parseSource(text, vendors).document;
}

/** The same with the places of its parts. */
export function parseSource(text: string, vendors: readonly VendorTerms[]): SourcedDocument {
  const source = readYaml(text);
  source.refuse([...shapeFindings(documentSchema, source.value), ...crossFindings(source.value, vendors)]);
  return { document: documentSchema.parse(source.value), refuse: (findings) => source.refuse(findings) };
}

/** What is lawful in a document and probably not meant, one line each. Never holds a secret's value. */
export function documentWarnings({ models }: ConfigDocument): readonly string[] {
  return models.flatMap((model, index) => [
    ...pricingWarnings(model.pricing).map(
      ({ path, message }) => `${pathText(['models', index, 'pricing', ...path])}: ${message}`,
    ),
    ...unpricedRoutes(model, index),
  ]);
}

/** Where costs decide, a route that states none is asked last, however cheap it is. */
function unpricedRoutes({ routing, routes }: ConfigModel, index: number): readonly string[] {
  if (routing !== 'cheapest') return [];
  return routes.flatMap(({ cost }, place) =>
    cost === undefined
      ? [`${pathText(['models', index, 'routes', place])}: states no cost, so it is asked after those that do`]
      : [],
  );
}

/** Two spellings of one address become the same text, so that addresses can be compared and joined with paths. */
function canonicalAddress(text: string): string {
  return withoutTrailingSlashes(URL.canParse(text) ? new URL(text).href : text);
}
