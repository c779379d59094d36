import { z } from 'zod';
import { didYouMean } from '../nearest.ts';
import { excerpt, type Finding } from './problems.ts';

/** Every way in which a value does not fit its schema, in words for an operator. */
export function shapeFindings(schema: z.ZodType, value: unknown): readonly Finding[] {
  const result = schema.safeParse(value, { error: wording, reportInput: true });
  return result.success ? [] : result.error.issues.flatMap(issueFindings);
}

function issueFindings(issue: z.core.$ZodIssue): readonly Finding[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, problem: issue.message }];
  const problems = issue.message.split('\n');
  return issue.keys.map((key, index) => ({ path: [...issue.path, key], problem: problems[index] ?? issue.message }));
}

/** Schemas say it themselves where they know better. Undefined leaves it to the library. */
function wording(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return typeWording(issue.expected, issue);
    case 'invalid_value':
      return `expected ${listed(issue.values)}, got ${shown(issue)}`;
    case 'unrecognized_keys':
      return issue.keys.map((key) => `unknown key${didYouMean(key, keysOf(issue.inst))}`).join('\n');
    case 'too_small':
      return `expected ${issue.inclusive ? 'at least' : 'more than'} ${amount(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `expected ${issue.inclusive ? 'at most' : 'less than'} ${amount(issue.maximum, issue.origin)}`;
    case 'invalid_key':
      return 'a key of this map is not allowed';
    case 'invalid_format':
    case 'invalid_union':
    case 'invalid_element':
    case 'not_multiple_of':
    case 'custom':
      return undefined;
  }
}

function typeWording(expected: string, issue: z.core.$ZodRawIssue): string {
  const { input } = issue;
  const name = TYPE_NAMES[expected] ?? expected;
  if (input === undefined) return `expected ${name}, but it is missing`;
  const unquoted = expected === 'string' && (typeof input === 'number' || typeof input === 'boolean');
  return `expected ${name}, got ${shown(issue)}${unquoted ? '; put it in quotes' : ''}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

function listed(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
}

function amount(bound: number | bigint, origin: string): string {
  if (origin === 'string') return bound === 1 ? '1 character' : `${bound} characters`;
  if (origin === 'array') return bound === 1 ? '1 item' : `${bound} items`;
  return String(bound);
}

/** An operator who leaves out the quotes of a key must not find it in a log. */
function shown({ input, path }: z.core.$ZodRawIssue): string {
  if (input === undefined || input === null) return 'nothing';
  if (path?.at(-1) === 'api_key') return 'something else';
  if (typeof input === 'string') return excerpt(input);
  if (typeof input === 'number' || typeof input === 'boolean') return String(input);
  return Array.isArray(input) ? 'a list' : 'a map';
}

function keysOf(schema: unknown): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}
