import type { JsonObject } from '../../../src/json.ts';
import { isObject } from '../../../src/vendors/kit/json.ts';
import type { Turn } from './text.ts';

const CHARS_MAX = 32_768;
const STARTS_MAX = 20;

/** A JSON schema that stands in the words of a conversation, the last one first; undefined if there is none. */
export function schemaIn(turns: readonly Turn[]): JsonObject | undefined {
  for (const { role, text } of turns.toReversed()) {
    const found = role === 'user' || role === 'system' ? schemaWithin(text.slice(0, CHARS_MAX)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function schemaWithin(text: string): JsonObject | undefined {
  let start = text.indexOf('{');
  for (let tries = 0; start !== -1 && tries < STARTS_MAX; tries++) {
    const value = objectAt(text, start);
    const schema = [value, value?.schema].find((each) => isObject(each) && isSchema(each));
    if (isObject(schema)) return schema;
    start = text.indexOf('{', start + 1);
  }
  return undefined;
}

/** The object that begins here, as far as its braces balance. */
function objectAt(text: string, start: number): JsonObject | undefined {
  let depth = 0;
  let isText = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (isText) {
      if (char === '\\') at++;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return parsed(text.slice(start, at + 1));
  }
  return undefined;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isSchema({ type, properties, $schema }: JsonObject): boolean {
  return isObject(properties) && (type === undefined || type === 'object' || typeof $schema === 'string');
}
