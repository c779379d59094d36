// Values from a JSON schema: valid ones, and one with a single place that is not.
import type { Random } from '../../packages/verify/src/random.ts';
import { hostileNumber, hostileString, hostileValue } from './hostile-values.ts';
import { Members, type Written } from './written.ts';

export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly $ref?: string;
}

/** A likely value of the field with this name; undefined leaves it to the schema. */
export type KnownField = (name: string, random: Random) => Written | undefined;

export interface SchemaRules {
  readonly random: Random;
  readonly known: KnownField;
  readonly components: Readonly<Record<string, Schema>>;
}

const ITEMS_MAX = 3;
/** How many of the optional members an object has. */
const OPTIONAL_SHARES = [0, 0.02, 0.1, 0.3];
/** Of these a schema cannot say that one of them is needed. */
const WANTED: ReadonlySet<string> = new Set(['prompt', 'input', 'url', 'image']);
const WANTED_SHARE = 0.85;
const DEPTH_MAX = 8;
/** Longer limits are not filled to the brim: the corpora have bodies of that size. */
const FILLED_MAX = 20_000;

/** Written down from the schema. A `fault` puts something else in one place, drawn among all places. */
export function schemaValue(schema: Schema, rules: SchemaRules, fault: boolean): Written {
  const writer = new SchemaWriter(rules);
  const value = writer.write(schema, '', 0);
  if (!fault) return value;
  // The same draws again up to the place that is spoiled would need the same state: a second value does as well.
  const spoiler = new SchemaWriter(rules, rules.random.whole(0, Math.max(0, writer.places - 1)));
  return spoiler.write(schema, '', 0);
}

class SchemaWriter {
  readonly #rules: SchemaRules;
  readonly #spoiled: number;
  places = 0;

  constructor(rules: SchemaRules, spoiled = -1) {
    this.#rules = rules;
    this.#spoiled = spoiled;
  }

  write(schema: Schema, name: string, depth: number): Written {
    const { random, known } = this.#rules;
    const chosen = this.#resolve(schema);
    if (this.places++ === this.#spoiled) return spoil(chosen, random);
    const likely = random.chance(0.9) ? known(name, random) : undefined;
    if (likely !== undefined) return likely;
    if (chosen.const !== undefined) return chosen.const as Written;
    if (chosen.enum !== undefined) return random.pick(chosen.enum) as Written;
    switch (typeOf(chosen, random)) {
      case 'object':
        return this.#object(chosen, depth);
      case 'array':
        return this.#array(chosen, name, depth);
      case 'string':
        return stringOf(chosen, random);
      case 'integer':
        return wholeOf(chosen, random);
      case 'number':
        return random.chance(0.5) ? wholeOf(chosen, random) : Math.round(random.next() * 200) / 100;
      case 'boolean':
        return random.chance(0.5);
      case 'null':
        return null;
      default:
        return random.pick<Written>(['x', 1, true, null, new Members()]);
    }
  }

  #resolve(schema: Schema): Schema {
    const { random, components } = this.#rules;
    if (schema.$ref !== undefined) return this.#resolve(components[schema.$ref.split('/').at(-1) ?? ''] ?? {});
    if (schema.anyOf === undefined) return schema;
    // Null is nearly always one of them and rarely of interest.
    return this.#resolve(random.chance(0.9) ? (schema.anyOf[0] ?? {}) : random.pick(schema.anyOf));
  }

  #object(schema: Schema, depth: number): Members {
    const { random } = this.#rules;
    const required = new Set(schema.required);
    const optionalShare = random.pick(OPTIONAL_SHARES);
    const pairs: [string, Written][] = [];
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      const share = depth === 0 && WANTED.has(name) ? WANTED_SHARE : optionalShare;
      if (!required.has(name) && (depth >= DEPTH_MAX || !random.chance(share))) continue;
      pairs.push([name, this.write(member, name, depth + 1)]);
    }
    const members = new Members(pairs);
    if (this.places++ === this.#spoiled) spoilMembers(members, random);
    return members;
  }

  #array(schema: Schema, name: string, depth: number): Written[] {
    const { random } = this.#rules;
    const least = schema.minItems ?? 0;
    const count = random.whole(least, Math.min(schema.maxItems ?? ITEMS_MAX, least + ITEMS_MAX));
    return Array.from({ length: count }, () => this.write(schema.items ?? {}, name, depth + 1));
  }
}

function typeOf({ type, properties }: Schema, random: Random): string {
  if (type === undefined) return properties === undefined ? 'any' : 'object';
  if (typeof type === 'string') return type;
  return (random.chance(0.9) ? type[0] : random.pick(type)) ?? 'any';
}

function stringOf({ pattern, minLength = 0, maxLength = 40 }: Schema, random: Random): string {
  const made = pattern === undefined ? undefined : fromPattern(pattern, random);
  if (made !== undefined) return made;
  const text = random.pick(['fuzz', 'a longer text with words', 'é😀', 'x', 'Name 7', 'fuzz@example.com']);
  return text.padEnd(minLength, 'x').slice(0, Math.max(maxLength, 1));
}

/** For the few patterns that the contract has; undefined for others. */
function fromPattern(pattern: string, random: Random): string | undefined {
  const candidates = [
    '20',
    '1024x1024',
    '16:9',
    '1788000000',
    '2026-11-17',
    'auto',
    'default',
    'https://app.example/x',
  ];
  const matching = candidates.filter((candidate) => new RegExp(pattern, 'u').test(candidate));
  return matching.length === 0 ? undefined : random.pick(matching);
}

function wholeOf({ minimum = -5, maximum = 1_000 }: Schema, random: Random): number {
  return random.chance(0.3) ? random.pick([minimum, maximum]) : random.whole(minimum, Math.min(maximum, minimum + 100));
}

/** At its limit, one beyond, of another type, or hostile. */
function spoil(schema: Schema, random: Random): Written {
  const atLimits = limitsOf(schema);
  if (atLimits.length > 0 && random.chance(0.5)) return random.pick(atLimits);
  if (schema.type === 'string' && random.chance(0.5)) return hostileString(random);
  if ((schema.type === 'integer' || schema.type === 'number') && random.chance(0.5)) return hostileNumber(random);
  return hostileValue(random);
}

function limitsOf({ minimum, maximum, minLength, maxLength, minItems, maxItems }: Schema): Written[] {
  const limits: Written[] = [];
  for (const limit of [minimum, maximum])
    if (limit !== undefined) limits.push(limit - 1, limit, limit + 1, limit + 0.5);
  for (const length of [minLength, maxLength]) {
    if (length === undefined || length > FILLED_MAX) continue;
    for (const filled of [length - 1, length, length + 1]) {
      limits.push('x'.repeat(Math.max(filled, 0)), '😀'.repeat(Math.max(filled, 0)));
    }
  }
  for (const items of [minItems, maxItems]) {
    if (items === undefined || items > FILLED_MAX) continue;
    for (const count of [items - 1, items, items + 1]) limits.push(Array<Written>(Math.max(count, 0)).fill('x'));
  }
  return limits;
}

/** A member less, more, twice or with a strange name. */
function spoilMembers(members: Members, random: Random): void {
  const { pairs } = members;
  const place = random.whole(0, Math.max(0, pairs.length - 1));
  switch (random.weighted({ missing: 3, twice: 2, unknown: 2, strange: 2 })) {
    case 'missing':
      pairs.splice(place, 1);
      break;
    case 'twice': {
      const pair = pairs[place];
      if (pair !== undefined) pairs.push([pair[0], random.chance(0.5) ? pair[1] : hostileValue(random)]);
      break;
    }
    case 'unknown':
      pairs.push(['unknown_field', hostileValue(random)]);
      break;
    case 'strange': {
      const name = hostileString(random);
      pairs.push([typeof name === 'string' ? name : '__proto__', hostileValue(random)]);
      break;
    }
  }
}
