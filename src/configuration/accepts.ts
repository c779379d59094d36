import { z } from 'zod';
import type { Finding, Path } from './problems.ts';
import { FORMATS, SLOTS } from './vocabulary.ts';

const N_MAX = 10;
const SECONDS_MAX = 24 * 60 * 60;
const ITEMS_MAX = 200;

const resolution = z.string().regex(/^[\w.-]{1,32}$/, 'expected a tier such as 1k or 720p');
const aspectRatio = z
  .string()
  .regex(/^(\d{1,4}(\.\d{1,3})?:\d{1,4}(\.\d{1,3})?|auto|adaptive)$/, 'expected a shape such as "16:9"');
const size = z.string().regex(/^([1-9]\d{0,4}x[1-9]\d{0,4}|auto)$/, 'expected a size such as 1024x1024');

/** What a route narrows of its model. What is absent is as the model has it. */
export const routeAcceptsSchema = z.strictObject({
  resolutions: distinctListOf(resolution).optional(),
  aspect_ratios: distinctListOf(aspectRatio).optional(),
  sizes: distinctListOf(size).optional(),
  n_max: z.int().min(1).max(N_MAX).optional(),
  slots: distinctListOf(z.enum(SLOTS)).optional(),
  voice_sample: z.literal('required').optional(),
  voice_design: z.boolean().optional(),
  seconds_max: z.number().positive().max(SECONDS_MAX).optional(),
  formats: distinctListOf(z.enum(FORMATS)).optional(),
});
export type RouteAccepts = z.infer<typeof routeAcceptsSchema>;

/**
 * What a request may ask of a model. An empty list refuses its field; without `n_max`, `seconds_max` or `formats`
 * only the specification and the vendor bound that field.
 */
export const acceptsSchema = routeAcceptsSchema.extend({
  resolutions: distinctListOf(resolution).default([]),
  aspect_ratios: distinctListOf(aspectRatio).default([]),
  sizes: distinctListOf(size).default([]),
  slots: distinctListOf(z.enum(SLOTS)).default([]),
  voice_design: z.boolean().default(false),
});
export type Accepts = z.infer<typeof acceptsSchema>;

/** Every point in which a route would accept more than its model says. */
export function wideningFindings(model: Accepts, route: RouteAccepts, path: Path): readonly Finding[] {
  const { voice_sample, voice_design } = route;
  const findings = [
    ...LISTS.flatMap((name) => extraItems(model[name], route[name], [...path, name])),
    ...MOSTS.flatMap((name) => largerMost(model[name], route[name], [...path, name])),
  ];
  if (voice_sample !== undefined && model.voice_sample === undefined) {
    findings.push({ path: [...path, 'voice_sample'], problem: 'the model itself takes no voice sample' });
  }
  if (voice_design === true && !model.voice_design) {
    findings.push({ path: [...path, 'voice_design'], problem: 'the model itself designs no voices' });
  }
  return findings;
}

const LISTS = ['resolutions', 'aspect_ratios', 'sizes', 'slots', 'formats'] as const;
const MOSTS = ['n_max', 'seconds_max'] as const;

function extraItems(all: readonly string[] | undefined, some: readonly string[] = [], path: Path): readonly Finding[] {
  if (all === undefined) return [];
  return some.flatMap((item, index) =>
    all.includes(item) ? [] : [{ path: [...path, index], problem: `the model itself does not accept ${item}` }],
  );
}

function largerMost(most: number | undefined, own: number | undefined, path: Path): readonly Finding[] {
  const larger = most !== undefined && own !== undefined && own > most;
  return larger ? [{ path, problem: `expected at most ${most}, which is the model's` }] : [];
}

/** A list that names nothing twice. */
export function distinctListOf<Item extends z.ZodType<string>>(item: Item) {
  return z
    .array(item)
    .max(ITEMS_MAX)
    .superRefine((items, context) => {
      const seen = new Set<string>();
      for (const [index, text] of items.entries()) {
        if (seen.has(text)) context.addIssue({ code: 'custom', path: [index], message: 'is here twice' });
        seen.add(text);
      }
    });
}
