// Writes clients/python/src/tollgate/contract.py: what the calls of the Python client take and answer, and the codes that they
// are refused with, as TypedDicts made from /openapi.json. A test compares; it needs no Python.
import { writeFile } from 'node:fs/promises';
import { clientShapesOf } from './client-shapes.ts';
import { type ContractDocument, documentOfThisTree, type Schema } from './contract-types.ts';

export const PYTHON_TYPES_FILE = 'clients/python/src/tollgate/contract.py';

/** What is taken may be any sequence or mapping; what is answered is what the JSON reader makes. */
const TAKEN = { list: 'Sequence', map: 'Mapping' } as const;
const ANSWERED = { list: 'list', map: 'dict' } as const;

type Containers = typeof TAKEN | typeof ANSWERED;

const HEAD = `"""Shapes on the wire. Made by "npm run python:types" from the gateway's contracts. Read it; do not edit it."""

from typing import Any, Literal, Mapping, Sequence, Union

from typing_extensions import NotRequired, TypedDict

`;

export function pythonTypesOf(document: ContractDocument): string {
  const { codes, taken, answered } = clientShapesOf(document);
  const writer = new Writer(new Map([...taken, ...answered]));
  const byName = ([one]: readonly [string, Schema], [other]: readonly [string, Schema]) => (one < other ? -1 : 1);
  for (const [name, schema] of taken.toSorted(byName)) writer.define(name, schema, TAKEN);
  for (const [name, schema] of answered.toSorted(byName)) writer.define(name, schema, ANSWERED);
  const literals = codes.map((code) => `    ${literal(code)},\n`).join('');
  return `${HEAD}ErrorCode = Literal[\n${literals}]\n\n\n${writer.definitions.join('\n\n')}`;
}

/** Python reads from top to bottom, so a definition is written after those that it names. */
class Writer {
  readonly definitions: string[] = [];
  readonly #named: ReadonlyMap<string, Schema>;
  readonly #written = new Set<string>();

  constructor(named: ReadonlyMap<string, Schema>) {
    this.#named = named;
  }

  define(name: string, schema: Schema, containers: Containers): void {
    if (this.#written.has(name)) return;
    this.#written.add(name);
    const type = this.#typeOf(schema, name, containers);
    if (type !== name) this.definitions.push(`${name} = ${type}\n`);
  }

  /** An object or an enumeration among the fields of another gets a name of its own, by the way to it. */
  #typeOf(schema: Schema, name: string, containers: Containers): string {
    if (schema.$ref !== undefined) return this.#reference(schema.$ref, containers);
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum !== undefined) return this.#enumeration(schema.enum, name);
    const choices = schema.anyOf ?? schema.oneOf ?? typesIn(schema);
    if (choices !== undefined) return union(choices.map((choice) => this.#typeOf(choice, name, containers)));
    switch (schema.type) {
      case 'string':
        return 'str';
      case 'boolean':
        return 'bool';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'null':
        return 'None';
      case 'array':
        return `${containers.list}[${this.#typeOf(schema.items ?? {}, name, containers)}]`;
      case 'object':
        return this.#objectType(schema, name, containers);
      case undefined:
        return 'Any';
      default:
        throw new Error(`no type of Python for ${JSON.stringify(schema)}`);
    }
  }

  #reference(path: string, containers: Containers): string {
    const name = path.split('/').at(-1) ?? '';
    const schema = this.#named.get(name);
    if (schema === undefined) throw new Error(`the client does not know ${path}`);
    this.define(name, schema, containers);
    return name;
  }

  #enumeration(values: readonly unknown[], name: string): string {
    const type = `Literal[${values.map(literal).join(', ')}]`;
    if (!this.#written.has(name)) this.definitions.push(`${name} = ${type}\n`);
    this.#written.add(name);
    return name;
  }

  #objectType(schema: Schema, path: string, containers: Containers): string {
    const { properties = {}, required = [], additionalProperties } = schema;
    const fields = Object.entries(properties);
    if (fields.length === 0) {
      const value = typeof additionalProperties === 'object' ? additionalProperties : {};
      return `${containers.map}[str, ${this.#typeOf(value, path, containers)}]`;
    }
    // A name that stands for several shapes has its object under a name of its own.
    const name = this.#named.get(path)?.anyOf === undefined ? path : `${path}Object`;
    const lines = fields.map(([field, of]) => {
      if (!/^[a-z_]\w*$/.test(field)) throw new Error(`"${field}" of ${path} is no name in Python`);
      const type = this.#typeOf(of, path + pascalCase(field), containers);
      const comment = of.description === undefined ? '' : `    # ${of.description}\n`;
      return `${comment}    ${field}: ${required.includes(field) ? type : `NotRequired[${type}]`}\n`;
    });
    this.definitions.push(`class ${name}(TypedDict):\n${lines.join('')}`);
    return name;
  }
}

function typesIn(schema: Schema): Schema[] | undefined {
  return Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : undefined;
}

function union(types: readonly string[]): string {
  const [first = 'Any', ...others] = new Set(types);
  return others.length === 0 ? first : `Union[${[first, ...others].join(', ')}]`;
}

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}

function pascalCase(field: string): string {
  return field.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

if (import.meta.main) await writeFile(PYTHON_TYPES_FILE, pythonTypesOf(await documentOfThisTree()));
