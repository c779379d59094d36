import { z } from 'zod';
import { documentSchema } from './document.ts';
import type { VendorTerms } from './vendor-terms.ts';

/**
 * What a document may hold, as JSON Schema 2020-12 for an editor: made from the schema that checks it, with the vendors of
 * this program. What spans several fields is told by the check alone.
 */
export function documentJsonSchema(vendors: readonly VendorTerms[]): object {
  const usable = vendors.filter(({ missing }) => missing === undefined);
  const names = usable.map(({ name }) => name);
  const dialects = [...new Set(usable.flatMap(({ dialects: known = {} }) => Object.keys(known)))];
  const schema = z.toJSONSchema(documentSchema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === upstreamFields.vendor) jsonSchema.enum = names;
      if (zodSchema === upstreamFields.dialect) jsonSchema.enum = dialects;
    },
  });
  return { title: 'Tollgate configuration', ...schema };
}

const upstreamFields = documentSchema.shape.upstreams.element.shape;
