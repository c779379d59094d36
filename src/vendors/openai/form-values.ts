import type { JsonValue } from '../../json.ts';
import type { Part } from '../kit/multipart.ts';

/** JSON in the form's own way: `a[b]` for objects, `a[]` for lists, and numbers as they were written. */
export function toValues(name: string, value: JsonValue | undefined): Part[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [{ name, value }];
  const text = JSON.stringify(value);
  if (text.startsWith('[')) return Object.values(value).flatMap((each) => toValues(`${name}[]`, each));
  if (text.startsWith('{')) return Object.entries(value).flatMap(([key, each]) => toValues(`${name}[${key}]`, each));
  return [{ name, value: text }];
}
