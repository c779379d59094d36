import { ApiError } from '../../errors.ts';
import type { JsonValue } from '../../json.ts';
import { isList } from '../kit/json.ts';

/** What is sent: `JSON.stringify` leaves out what is undefined. */
export type WireValue =
  | JsonValue
  | undefined
  | readonly WireValue[]
  | {
      readonly [key: string]: WireValue;
    };

/** An absent or foreign value is an empty list. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isList(value) ? value : [];
}

export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** `null` counts as absent. */
export function isGiven(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null;
}

export function invalid(field: string, why: string): ApiError {
  return new ApiError('invalid_parameter', { message: `"${field}" ${why}.` });
}
