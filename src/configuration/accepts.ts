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

const MEANING = {
  resolutions: 'Tiers, such as 1k or 720p.',
  aspect_ratios: 'Shapes, such as "16:9".',
  sizes: 'Pixels, such as 1024x1024.',
  slots: 'Fields that hand over media, and generate_audio.',
  voice_design: 'Whether it proposes voices for a description.',
};

/** What a route narrows of its model. What is absent is as the model has it. */
export const routeAcceptsSchema = z.strictObject({
  resolutions: distinctListOf(resolution).optional().describe(MEANING.resolutions),
  aspect_ratios: distinctListOf(aspectRatio).optional().describe(MEANING.aspect_ratios),
  sizes: distinctListOf(size).optional().describe(MEANING.sizes),
  n_max: z.int().min(1).max(N_MAX).optional().describe('The most results of one request.'),
  slots: distinctListOf(z.enum(SLOTS)).optional().describe(MEANING.slots),
  voice_sample: z.literal('required').optional().describe('Speaks only in the voice of a sample.'),
  voice_design: z.boolean().optional().describe(MEANING.voice_design),
  seconds_max: z.number().positive().max(SECONDS_MAX).optional().describe('The longest clip.'),
  formats: distinctListOf(z.enum(FORMATS)).optional().describe('File formats of its results.'),
});
export type RouteAccepts = z.infer<typeof routeAcceptsSchema>;

/**
 * What a request may ask of a model. An empty list refuses its field; without `n_max`, `seconds_max` or `formats`
 * only the specification and the vendor bound that field.
 */
export const acceptsSchema = routeAcceptsSchema.extend({
  resolutions: distinctListOf(resolution).default([]).describe(MEANING.resolutions),
  aspect_ratios: distinctListOf(aspectRatio).default([]).describe(MEANING.aspect_ratios),
  sizes: distinctListOf(size).default([]).describe(MEANING.sizes),
  slots: distinctListOf(z.enum(SLOTS)).default([]).describe(MEANING.slots),
  voice_design: z.boolean().default(false).describe(MEANING.voice_design),
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
