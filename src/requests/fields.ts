import type { z } from 'zod';

/** A field that may be left out. Null counts as left out. */
export function optional<Field extends z.ZodType>(field: Field) {
  return field.nullish().transform((value) => value ?? undefined);
}
