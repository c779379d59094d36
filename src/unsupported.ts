import { ApiError } from './errors.ts';
import { quoted } from './quoted.ts';

/** What a model does take in a field, as far as there is something to say. */
export type FieldSupport =
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
export function unsupported(field: string, support: FieldSupport = 'none'): ApiError {
  return new ApiError('unsupported_parameter', {
    message: `"${field}": this model ${wording(support)}.`,
    param: field,
  });
}

function wording(support: FieldSupport): string {
  if (support === 'none') return 'takes none';
  if (support === 'another value') return 'does not take this value';
  if ('oneOf' in support) return support.oneOf.length === 0 ? 'takes none' : `takes ${support.oneOf.join(', ')}`;
  if ('from' in support) return `takes ${support.from} to ${support.to}`;
  if ('notWith' in support) return `does not take it together with "${support.notWith}"`;
  const unit = support.unit === undefined ? '' : ` ${support.unit}`;
  return 'atMost' in support ? `takes at most ${support.atMost}${unit}` : `takes at least ${support.atLeast}${unit}`;
}

/** A tool or a block of a kind that a model does not know, by its kind. */
export function unsupportedType(field: string, what: 'tool' | 'block', type: string): ApiError {
  const message = `"${field}": this model takes no ${what} of type ${quoted(type)}.`;
  return new ApiError('unsupported_parameter', { message, param: field });
}

/** Work that a model cannot do, although others at the same endpoint can. */
export function unsupportedWork(verb: string): ApiError {
  return new ApiError('unsupported_parameter', { message: `"model": this model does not ${verb}.`, param: 'model' });
}

/** What no model could take: the field is not what the format says that it is. */
export function invalid(field: string, why: string): ApiError {
  return new ApiError('invalid_parameter', { message: `"${field}" ${why}.` });
}
