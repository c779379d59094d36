import { z } from 'zod';

/** The one envelope of every error. */
export const errorSchema = z
  .strictObject({
    error: z.strictObject({
      message: z.string(),
      type: z.string(),
      code: z.string().regex(/^[a-z0-9_]+$/),
      param: z.string().nullable().describe('The field at fault, where one is known.'),
    }),
  })
  .meta({ id: 'Error' });
