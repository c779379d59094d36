import { z } from 'zod';
import { ApiError, ERROR_TABLE, type ErrorCode } from './errors.ts';
import { nearest } from './nearest.ts';
import { quoted } from './quoted.ts';

/**
 * Checks a value against its schema and returns the typed result. A schema names the public code of a field as that
 * field's error, with words of its own behind it where those of the table do not fit (`missing_input: …`); what has no code of its own is `invalid_parameter`. Throws ApiError with the first problem, fields that
 * are not known before all others, because a misspelt field is missing as well.
 */
export function parseWith<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value, WORDING);
  if (result.success) return result.data;
  const { issues } = result.error;
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue === undefined) throw new ApiError('invalid_parameter');
  const param = fieldAt(issue.path);
  const [code = '', words] = issue.message.split(/: (.*)/s, 2);
  if (isErrorCode(code)) throw new ApiError(code, words === undefined ? { param } : { param, message: words });
  if (issue.code === 'unrecognized_keys') {
    const first = fieldAt([...issue.path, issue.keys[0] ?? '']);
    throw new ApiError('invalid_parameter', { message: issue.message, param: first });
  }
  const field = param === null ? 'The request' : `"${param}"`;
  const message = `${field}: ${issue.message.replace(/^Invalid input: /, '')}.`;
  throw new ApiError('invalid_parameter', { message, param });
}

function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, text);
}

// The brackets belong to a name that forms use. Longer than any field and shorter than any key.
const FIELD_NAME = /^[\w-]{1,40}(\[\])?$/;

/** Such as `messages[0].role`; null for the body as a whole, and where a name is none that a field could have. */
function fieldAt(path: readonly PropertyKey[]): string | null {
  if (path.some((part) => typeof part !== 'number' && !FIELD_NAME.test(String(part)))) return null;
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return text === '' ? null : text.replace(/^\./, '');
}

/** What `work` refuses is refused with the field that it is about. */
export function inField<Result>(field: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw atField(error, field);
  }
}

/** The same error with the field that it is about, unless it names one already or the request is not at fault. */
export function atField(error: unknown, field: string): unknown {
  if (!(error instanceof ApiError) || error.param !== null || ![400, 413].includes(error.status)) return error;
  if (!FIELD.test(field)) return error;
  const { code, message, headers, cause } = error;
  return new ApiError(code, { message, param: field, headers, cause });
}

const FIELD = /^[\w-]{1,40}(\[\d{0,3}\])?$/;

/** Only what a schema cannot say itself. */
const WORDING = {
  error: (issue: z.core.$ZodRawIssue) =>
    issue.code === 'unrecognized_keys' ? unknownFields(issue.keys, issue.inst) : undefined,
};

const NAMED_MAX = 10;

function unknownFields(names: readonly string[], schema: unknown): string {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const named = names.slice(0, NAMED_MAX).map((name) => {
    const close = nearest(name, known);
    return close === undefined ? quoted(name) : `${quoted(name)} (did you mean "${close}"?)`;
  });
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return `Not known here: ${named.join(', ')}${more}.`;
}

/** A field that may be left out. Null counts as left out. */
export function optional<Field extends z.ZodType>(field: Field) {
  return field.nullish().transform((value) => value ?? undefined);
}
