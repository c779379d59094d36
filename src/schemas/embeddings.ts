import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { EMBEDDING_DIMENSIONS_MAX, EMBEDDING_INPUTS_MAX, TOKEN_ID_MAX } from '../limits.ts';
import { optional } from '../parse.ts';
import { modelField } from './fields.ts';
import { passthrough, unmodelled } from './passthrough.ts';

/** A call for vectors, checked. */
export interface EmbeddingRequest {
  /** The public name that the caller asked for. */
  readonly model: string;
  readonly input: EmbeddingInput;
  /** How the caller wants the numbers: as base64 of their bytes, or as numbers. */
  readonly encoding: 'float' | 'base64';
  /** How many numbers each vector is to have; undefined leaves it to the model. */
  readonly dimensions: number | undefined;
  /** Who of the caller's own users asks, for vendors that want to know. */
  readonly user: string | undefined;
  /** Members that the format does not have, for vendors that take them. */
  readonly extra: JsonObject;
}

/** At least one of them; a single one was a list of one. */
export type EmbeddingInput =
  | { readonly kind: 'texts'; readonly texts: readonly string[] }
  /** Numbers out of the vocabulary of a model's own tokenizer. */
  | { readonly kind: 'tokens'; readonly lists: readonly (readonly number[])[] };

const TEXT = { type: 'string', minLength: 1 };
const TOKENS = { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 };
const listOf = (items: object) => ({ type: 'array', items, minItems: 1, maxItems: EMBEDDING_INPUTS_MAX });

/** Not a union of schemas: of each of its members zod would make an issue for every item that does not fit. */
const inputField = z
  .unknown()
  .meta({ anyOf: [TEXT, listOf(TEXT), TOKENS, listOf(TOKENS)] })
  .check(({ value, issues }) => {
    const problem = inputProblem(value);
    if (problem === undefined) return;
    const { path = [], message } = problem;
    issues.push({ code: 'custom', input: value, path: [...path], message });
  });

interface Problem {
  readonly path?: readonly (string | number)[];
  /** A public code, or what was expected. */
  readonly message: string;
}

const MISSING = 'missing_input: Give "input": a text or a list of texts.';

function inputProblem(input: unknown): Problem | undefined {
  if (input === undefined || input === null || input === '') return { message: MISSING };
  if (typeof input === 'string') return undefined;
  if (!Array.isArray(input)) return { message: 'expected a text, a list of texts, or a list of tokens' };
  if (input.length === 0) return { message: MISSING };
  if (isToken(input[0])) return tokensProblem(input);
  if (input.length > EMBEDDING_INPUTS_MAX) return { message: `expected at most ${EMBEDDING_INPUTS_MAX} inputs` };
  const itemProblem = Array.isArray(input[0]) ? tokensProblem : textProblem;
  for (const [at, item] of input.entries()) {
    const problem = itemProblem(item);
    if (problem !== undefined) return { path: [at, ...(problem.path ?? [])], message: problem.message };
  }
  return undefined;
}

function textProblem(item: unknown): Problem | undefined {
  return typeof item === 'string' && item !== '' ? undefined : { message: 'expected a text that is not empty' };
}

function tokensProblem(list: unknown): Problem | undefined {
  if (!Array.isArray(list) || list.length === 0) return { message: 'expected a list of tokens that is not empty' };
  const at = list.findIndex((token) => !isToken(token));
  return at === -1 ? undefined : { path: [at], message: 'expected a token, which is a whole number from 0 up' };
}

function isToken(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= TOKEN_ID_MAX;
}

export const embeddingSchema = z.object({
  model: modelField,
  input: inputField,
  encoding_format: optional(z.enum(['float', 'base64'], { error: 'expected float or base64' })),
  dimensions: optional(z.int().min(1).max(EMBEDDING_DIMENSIONS_MAX)),
  user: optional(z.string()),
});

/** `exact` is the same body with every number as it was written. */
export function toEmbeddingRequest(parsed: z.output<typeof embeddingSchema>, exact: JsonObject): EmbeddingRequest {
  return {
    model: parsed.model,
    input: toInput(parsed.input),
    encoding: parsed.encoding_format ?? 'float',
    dimensions: parsed.dimensions,
    user: parsed.user,
    extra: passthrough(unmodelled(exact, embeddingSchema.shape)),
  };
}

/** The schema has looked at every item. */
function toInput(input: unknown): EmbeddingInput {
  if (!Array.isArray(input)) return { kind: 'texts', texts: [String(input)] };
  if (isToken(input[0])) return { kind: 'tokens', lists: [input as number[]] };
  return Array.isArray(input[0])
    ? { kind: 'tokens', lists: input as number[][] }
    : { kind: 'texts', texts: input as string[] };
}
