import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { ApiError } from '../errors.ts';
import { SECONDS_MAX } from '../limits.ts';
import { optional } from '../parse.ts';

export const modelField = z.string({ error: 'missing_model' }).min(1, { error: 'missing_model' });
/** An empty text counts as left out, because forms send one for whatever was not filled in. */
export const textField = z
  .string()
  .nullish()
  .transform((text) => text || undefined);
export const flagField = optional(z.boolean());
export const wholeField = optional(z.int());

/** How many results. */
export function countField(most: number) {
  const error = 'invalid_n';
  return optional(z.int({ error }).min(1, { error }).max(most, { error }));
}

/** A length of time; 0 leaves it to the model. */
export function secondsField(error: 'invalid_seconds' | 'invalid_duration') {
  return z.number({ error }).min(0, { error }).max(SECONDS_MAX, { error });
}

export const sizeField = optional(
  z.string().regex(/^([1-9]\d{0,4}x[1-9]\d{0,4}|auto)$/, { error: 'expected a size such as 1024x1024, or auto' }),
);

export const ratioField = optional(
  z.string().regex(/^(\d{1,4}(\.\d{1,3})?:\d{1,4}(\.\d{1,3})?|auto|adaptive)$/, {
    error: 'expected a shape such as 16:9',
  }),
);

export type Problem = readonly [path: readonly string[], expected: string];

/**
 * A list that is neither copied nor looked at beyond its first wrong item: there may be a hundred thousand of them, and
 * the schema of each would make an issue of its own.
 */
export function checkedListOf(
  item: Readonly<Record<string, unknown>>,
  problemOf: (item: unknown) => Problem | undefined,
  error?: string,
) {
  return z.array(z.unknown().meta(item), error).check(({ value, issues }) => {
    for (const [at, given] of value.entries()) {
      const problem = problemOf(given);
      if (problem === undefined) continue;
      const [path, expected] = problem;
      issues.push({ code: 'custom', input: given, path: [at, ...path], message: `expected ${expected}` });
      return;
    }
  });
}

export function notAnObject(item: unknown): Problem | undefined {
  return typeof item === 'object' && item !== null && !Array.isArray(item) ? undefined : [[], 'an object'];
}

/** The one value that goes by several names. Throws `conflicting_parameters` when two are given and differ. */
export function oneOf<Value>(named: Readonly<Record<string, Value | undefined>>): Value | undefined {
  const [first, ...others] = Object.entries(named).filter(([, value]) => value !== undefined);
  const other = others.find(([, value]) => !isDeepStrictEqual(value, first?.[1]));
  if (other !== undefined) {
    const message = `"${first?.[0]}" and "${other[0]}" differ.`;
    throw new ApiError('conflicting_parameters', { message, param: other[0] });
  }
  return first?.[1];
}

/**
 * What stands before a schema, so that faults are told in the order in which a caller can mend them: the model, then
 * something to work from, then the single fields.
 */
export function requireAny(
  code: 'missing_prompt' | 'missing_input',
  isMet: (body: Record<string, unknown>) => boolean,
) {
  return (body: unknown, context: z.RefinementCtx): unknown => {
    const hasModel = isRecord(body) && typeof body.model === 'string' && body.model !== '';
    const path = [code === 'missing_prompt' ? 'prompt' : 'input'];
    if (hasModel && !isMet(body)) context.addIssue({ code: 'custom', message: code, path });
    return body;
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
