import { ITEM, type YamlPlace } from './yaml-place.ts';

/** The part of JSON Schema that the document's own schema uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

/** What may be written at a place. */
export interface Option {
  readonly label: string;
  readonly kind: 'key' | 'value';
  /** Its type, or its default. */
  readonly detail: string;
  readonly about: string;
  /** What is put in, with what follows a key. */
  readonly apply: string;
}

/** The keys that a map lacks, or the values that a field takes. */
export function optionsAt(root: JsonSchema, place: YamlPlace, text: string): readonly Option[] {
  const schemas = schemasAt(root, place.path);
  const values = schemas.flatMap((schema) => valuesOf(schema, place, text));
  if (place.isValue) return distinct(values);
  const keys = schemas.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties)
      .filter(([name]) => !place.present.includes(name))
      .map(([name, field]) => keyOption(root, name, field, required.includes(name), place.isFlow)),
  );
  return distinct([...keys, ...values]);
}

/** What a field is for, in the schema's own words. */
export function descriptionAt(root: JsonSchema, path: readonly string[]): string | undefined {
  return schemasAt(root, path).find(({ description }) => description !== undefined)?.description;
}

function schemasAt(root: JsonSchema, path: readonly string[]): readonly JsonSchema[] {
  let schemas = expand(root, root);
  for (const name of path)
    schemas = schemas.flatMap((schema) => step(schema, name)).flatMap((one) => expand(root, one));
  return schemas;
}

function step({ properties, additionalProperties, items }: JsonSchema, name: string): readonly JsonSchema[] {
  if (name === ITEM) return items === undefined ? [] : [items];
  const field = properties?.[name];
  if (field !== undefined) return [field];
  return typeof additionalProperties === 'object' ? [additionalProperties] : [];
}

/** Follows references, and takes every alternative. */
function expand(root: JsonSchema, schema: JsonSchema): readonly JsonSchema[] {
  const named = schema.$ref?.split('/').at(-1);
  const target = named === undefined ? undefined : root.$defs?.[named];
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...[...(target === undefined ? [] : [target]), ...parts].flatMap((part) => expand(root, part))];
}

function keyOption(root: JsonSchema, name: string, field: JsonSchema, isRequired: boolean, isFlow: boolean): Option {
  const types = expand(root, field);
  const isBlock = types.some(
    ({ properties, items }) =>
      properties !== undefined ||
      (items !== undefined && expand(root, items).some((item) => item.properties !== undefined)),
  );
  const fallback = field.default === undefined ? '' : ` = ${JSON.stringify(field.default)}`;
  return {
    label: name,
    kind: 'key',
    detail: `${typeName(types)}${fallback}${isRequired ? ' *' : ''}`,
    about: types.find(({ description }) => description !== undefined)?.description ?? '',
    apply: isBlock && !isFlow ? `${name}:` : `${name}: `,
  };
}

function typeName(types: readonly JsonSchema[]): string {
  const names = types.flatMap(({ type, enum: values }) => (values === undefined ? (type ?? []) : 'choice'));
  return [...new Set(names.flat())].join(' | ');
}

function valuesOf(schema: JsonSchema, { path }: YamlPlace, text: string): readonly Option[] {
  const option = (value: unknown): Option => ({
    label: String(value),
    kind: 'value',
    detail: value === schema.default ? 'default' : '',
    about: schema.description ?? '',
    apply: String(value),
  });
  if (schema.enum !== undefined) return schema.enum.map(option);
  if (schema.const !== undefined) return [option(schema.const)];
  if (schema.type === 'boolean') return [true, false].map(option);
  if (path.at(-1) === 'upstream' && path.at(-3) === 'routes') return upstreamIds(text).map(option);
  return typeof schema.default === 'object' || schema.default === undefined ? [] : [option(schema.default)];
}

/** The ids between `upstreams:` and the next key of the document. */
function upstreamIds(text: string): readonly string[] {
  const [, part = ''] = /^upstreams:[^\n]*\n([\s\S]*?)(?=^\S|(?![\s\S]))/m.exec(text) ?? [];
  return [...part.matchAll(/^\s*(?:-\s+)?id:\s*["']?([\w.-]+)/gm)].map(([, id = '']) => id);
}

function distinct(options: readonly Option[]): readonly Option[] {
  return [...new Map(options.map((option) => [option.label, option])).values()];
}
