// The target of a request: the path and query of an operation, filled in well or badly.
import type { Random } from '../../packages/verify/src/random.ts';
import { hostileString } from './hostile-values.ts';
import type { Operation, Parameter } from './operations.ts';
import { schemaValue } from './schema-values.ts';
import { type Written, writeJson } from './written.ts';

/** An id, of something that exists or existed where there is such a thing. */
export type KnownId = (parameter: string, random: Random) => string;

const SEGMENTS: readonly string[] = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%2f',
  '%5c',
  '%00',
  '%0d%0a',
  '%',
  '%zz',
  '%c0%af',
  '%ff',
  '%ed%a0%80',
  '%u0041',
  'a;b=c',
  ';',
  'a%3bb',
  '~',
  '*',
  '__proto__',
  'constructor',
  'null',
  'undefined',
  '-1',
  '0',
  '9'.repeat(40),
  'x'.repeat(2_048),
  'x'.repeat(2_049),
  '%e2%80%ae',
  '%F0%9F%98%80',
  "'",
  '"',
  '<x>',
  '{job_id}',
  'a:b',
  'acct_',
  'job_000000000000000000000000',
  'req_000000000000000000000000',
  '00000000-0000-0000-0000-000000000000',
];

const PATHS: readonly ((path: string, random: Random) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.replaceAll('/', '//'),
  (path) => path.toUpperCase(),
  (path) => `${path};x=y`,
  (path) => `${path}%00`,
  (path) => `${path}%20`,
  (path) => `${path}.json`,
  (path) => `${path}/..`,
  (path) => `/x/..${path}`,
  (path) => `/./${path.slice(1)}`,
  (path) => path.replace(/[a-z]/, (char) => `%${char.charCodeAt(0).toString(16)}`),
  (path) => path.slice(0, -1),
  (path) => `${path}x`,
  (path) => `${path}?`,
  (path) => `${path}??a=b`,
  (path) => `${path}?${'a=b&'.repeat(3_000)}`,
  (path) => `${path}?a[b][c]=d&__proto__[x]=1&=&&%=%`,
  (path) => `${path}?${encodeURIComponent('\u0000')}=1`,
  (path) => `${path}?limit=20&limit=30`,
  (path, random) => `${path}/${random.pick(SEGMENTS)}`,
  (path, random) => `${path}?key=${'k'.repeat(random.whole(1, 600))}`,
];

/** `fault` spoils one thing of it. */
export function targetOf(operation: Operation, knownId: KnownId, random: Random, fault: boolean): string {
  const spoiled = fault ? random.weighted({ segment: 3, query: 4, path: 2 }) : 'none';
  const path = operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    spoiled === 'segment' ? random.pick(SEGMENTS) : encodeURIComponent(knownId(name, random)),
  );
  const queries = operation.parameters.filter((parameter) => parameter.in === 'query');
  const target = path + queryOf(queries, random, spoiled === 'query');
  return (spoiled === 'path' ? random.pick(PATHS)(target, random) : target).replace(/[^\x21-\x7e]/g, '%FF');
}

function queryOf(parameters: readonly Parameter[], random: Random, isSpoiled: boolean): string {
  const chosen = parameters.filter(({ required }) => required === true || random.chance(isSpoiled ? 0.5 : 0.2));
  const pairs = chosen.map(({ name, schema }) => {
    const value = schemaValue(schema, { random, known: () => undefined, components: {} }, isSpoiled);
    return `${name}=${encoded(textOf(value))}`;
  });
  if (isSpoiled && random.chance(0.3)) {
    const value = hostileString(random);
    pairs.push(`${random.pick(['unknown', 'limit', 'after', 'format'])}=${encoded(textOf(value))}`);
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function textOf(value: Written): string {
  return (typeof value === 'string' ? value : writeJson(value)).slice(0, 3_000);
}

/** Half of a pair cannot be encoded. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
