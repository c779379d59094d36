import { ApiError } from './errors.ts';

/** What a model does take in a field, as far as there is something to say. */
export type Taken =
  | 'none'
  | 'another value'
  | { readonly oneOf: readonly (string | number)[] }
  | { readonly from: number; readonly to: number }
  | { readonly atMost: number; readonly unit?: string }
  | { readonly atLeast: number; readonly unit?: string }
  | { readonly notWith: string };

/**
 * A field that a model cannot take, in the same words whichever vendor or rule refuses it: the wording would tell which
 * upstream is behind a model.
 */
export function unsupported(field: string, taken: Taken = 'none'): ApiError {
  return new ApiError('unsupported_parameter', { message: `"${field}": this model ${wording(taken)}.`, param: field });
}

function wording(taken: Taken): string {
  if (taken === 'none') return 'takes none';
  if (taken === 'another value') return 'does not take this value';
  if ('oneOf' in taken) return taken.oneOf.length === 0 ? 'takes none' : `takes ${taken.oneOf.join(', ')}`;
  if ('from' in taken) return `takes ${taken.from} to ${taken.to}`;
  if ('notWith' in taken) return `does not take it together with "${taken.notWith}"`;
  const unit = taken.unit === undefined ? '' : ` ${taken.unit}`;
  return 'atMost' in taken ? `takes at most ${taken.atMost}${unit}` : `takes at least ${taken.atLeast}${unit}`;
}
