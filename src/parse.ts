import type { z } from 'zod';
import { ApiError, ERROR_TABLE, type ErrorCode } from './errors.ts';

/**
 * Checks a value against its schema and returns the typed result. A schema names the public code of a field as that
 * field's error; what has no code of its own is `invalid_parameter`. Throws ApiError with the first problem.
 */
export function parseWith<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  if (issue === undefined) throw new ApiError('invalid_parameter');
  if (isErrorCode(issue.message)) throw new ApiError(issue.message);
  throw new ApiError('invalid_parameter', { message: describe(issue) });
}

function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, text);
}

/** Names the field and what was expected. Never repeats the value, which may be a secret. */
function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  const field = path === '' ? 'The request' : `"${path.replace(/^\./, '')}"`;
  return `${field}: ${expectation(issue)}.`;
}

// Longer than any field and shorter than any key.
const SHOWN_NAME = /^\w{1,40}$/;

function expectation(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return issue.message.replace(/^Invalid input: /, '');
  const shown = issue.keys.find((name) => SHOWN_NAME.test(name));
  return shown === undefined ? 'a field is not known here' : `the field "${shown}" is not known here`;
}

/** A field that may be left out. Null counts as left out. */
export function optional<Field extends z.ZodType>(field: Field) {
  return field.nullish().transform((value) => value ?? undefined);
}
