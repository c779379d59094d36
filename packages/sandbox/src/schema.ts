import type { JsonObject, JsonValue } from '../../../src/json.ts';
import { isObject } from '../../../src/vendors/kit/json.ts';
import { topicOf } from './essay.ts';
import { numberAt, numberWithin } from './number-schema.ts';
import { textMatching } from './pattern.ts';
import { pick, type Random } from './random.ts';

/** Where values come from: what the user said, and what would have been answered. */
export interface Material {
  readonly question: string;
  readonly answer: string;
  readonly random: Random;
}

const VALUES_MAX = 2_000;
const ITEMS_MAX = 1_000;
const CHARS_MAX = 10_000;
const ITEMS_UNSTATED = 2;
const DEPTH_MAX = 12;
/** Below this only what is required is made, so that schemas which contain themselves come to an end. */
const OPTIONAL_DEPTH_MAX = 4;
const REFERENCES_MAX = 16;

interface Filling extends Material {
  readonly root: JsonObject;
  readonly names: string[];
  readonly numbers: number[];
  left: number;
}

/** A value that fits a JSON schema, in either dialect, made of the user's words where they offer some. */
export function fitting(schema: JsonObject, material: Material): JsonValue {
  const { question } = material;
  // The first word of a sentence has a capital letter for no reason of its own.
  const names = question.match(/(?<=[^\s.!?]\s)\p{Lu}[\p{L}\d]+(?:\s\p{Lu}[\p{L}\d]+)*/gu) ?? [];
  const numbers = question.match(/(?<![\w.])-?\d{1,15}(?:\.\d{1,6})?(?!\w)/g) ?? [];
  const quoted = [...question.matchAll(/"([^"]+)"|“([^”]+)”/g)].map(([, plain, curly]) => plain ?? curly ?? '');
  const filling = {
    ...material,
    root: schema,
    names: [...quoted, ...names],
    numbers: numbers.map(Number),
    left: VALUES_MAX,
  };
  return valueFor(schema, '', filling, 0);
}

function valueFor(written: JsonValue | undefined, name: string, filling: Filling, depth: number): JsonValue {
  if (--filling.left < 0 || depth > DEPTH_MAX) return null;
  const schema = resolved(written, filling.root);
  if (schema.const !== undefined) return schema.const;
  if (isList(schema.enum)) return chosen(schema.enum, filling);
  switch (typeOf(schema)) {
    case 'object':
      return objectFor(schema, filling, depth);
    case 'array':
      return arrayFor(schema, name, filling, depth);
    case 'number':
      return numberFor(schema, filling, false);
    case 'integer':
      return numberFor(schema, filling, true);
    case 'boolean':
      return !/\b(?:no|not|never|without|off|disable)\b|n['’]t\b/i.test(filling.question);
    case 'null':
      return null;
    default:
      return stringFor(schema, name, filling);
  }
}

/** Follows references inside the document, and takes the first of several that are allowed. */
function resolved(written: JsonValue | undefined, root: JsonObject): JsonObject {
  let schema = isObject(written) ? written : {};
  for (let hops = 0; hops < REFERENCES_MAX; hops++) {
    const { $ref, anyOf, oneOf, allOf, ...rest } = schema;
    const options = isList(anyOf) ? anyOf : oneOf;
    if (typeof $ref === 'string') schema = { ...at(root, $ref), ...rest };
    else if (isList(allOf)) schema = merged([...allOf, rest], root);
    else if (isList(options)) schema = { ...rest, ...firstOf(options) };
    else break;
  }
  return schema;
}

function at(root: JsonObject, reference: string): JsonObject {
  let value: JsonValue | undefined = root;
  for (const step of reference.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return isObject(value) ? value : {};
}

function merged(parts: readonly JsonValue[], root: JsonObject): JsonObject {
  const schemas = parts.map((part) => (isObject(part) && typeof part.$ref === 'string' ? at(root, part.$ref) : part));
  const objects = schemas.filter(isObject);
  const properties = Object.assign({}, ...objects.map((part) => part.properties));
  const required = objects.flatMap((part) => (isList(part.required) ? part.required : []));
  return { ...Object.assign({}, ...objects), properties, required };
}

function firstOf(options: readonly JsonValue[]): JsonObject {
  const option = options.find((each) => isObject(each) && each.type !== 'null');
  return isObject(option) ? option : {};
}

function typeOf(schema: JsonObject): string {
  const { type } = schema;
  const named = isList(type) ? type.find((each) => each !== 'null') : type;
  if (typeof named === 'string') return named.toLowerCase();
  if (schema.properties !== undefined) return 'object';
  return schema.items === undefined ? 'string' : 'array';
}

/** A value that the user named, else any. */
function chosen([first = null, ...others]: readonly JsonValue[], { question, random }: Filling): JsonValue {
  const words = question.toLowerCase();
  const named = [first, ...others].find((value) => typeof value === 'string' && words.includes(value.toLowerCase()));
  return named ?? pick([first, ...others], random);
}

function objectFor(schema: JsonObject, filling: Filling, depth: number): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = isList(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
  const names = depth < OPTIONAL_DEPTH_MAX ? [...new Set([...Object.keys(properties), ...required])] : required;
  const schemaOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined);
  return Object.fromEntries(
    names.slice(0, VALUES_MAX).map((name) => [name, valueFor(schemaOf(name), name, filling, depth + 1)]),
  );
}

function arrayFor(schema: JsonObject, name: string, filling: Filling, depth: number): JsonValue[] {
  const preferred = Math.min(ITEMS_UNSTATED, numberAt(schema, 'maxItems') ?? ITEMS_UNSTATED);
  const length = Math.min(Math.max(preferred, numberAt(schema, 'minItems') ?? 0), ITEMS_MAX);
  if (depth >= DEPTH_MAX) return [];
  return Array.from({ length }, () => valueFor(schema.items, name, filling, depth + 1));
}

function numberFor(schema: JsonObject, { numbers, random }: Filling, isInteger: boolean): number {
  return numberWithin(schema, isInteger, (least = 0) => numbers.shift() ?? least + Math.floor(random() * 10));
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-15T09:30:00Z',
  date: '2026-01-15',
  time: '09:30:00Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
};

const ANSWERS =
  /^(?:answer|text|message|content|summary|reply|response|explanation|output|result|description|reasoning)$/i;
const QUESTIONS = /^(?:query|q|prompt|question|input|search|expression|instructions?)$/i;

function stringFor(schema: JsonObject, name: string, filling: Filling): string {
  const format =
    typeof schema.format === 'string' && Object.hasOwn(FORMATS, schema.format) ? FORMATS[schema.format] : undefined;
  const least = Math.min(numberAt(schema, 'minLength') ?? 0, CHARS_MAX);
  const { pattern } = schema;
  const matching = typeof pattern === 'string' && format === undefined ? textMatching(pattern, least) : undefined;
  // What a pattern made is not cut: a part of it need not match.
  if (matching !== undefined) return matching;
  const chars = Array.from(format ?? wordsFor(name, filling));
  return [...chars, ...Array.from({ length: Math.max(0, least - chars.length) }, () => '.')]
    .slice(0, numberAt(schema, 'maxLength') ?? chars.length + least)
    .join('');
}

function wordsFor(name: string, { question, answer, names }: Filling): string {
  if (ANSWERS.test(name)) return answer;
  if (QUESTIONS.test(name)) return question;
  return names.shift() ?? topicOf(question);
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value) && value.length > 0;
}
