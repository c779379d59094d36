// Turns schemas of /openapi.json into types: of the console (console-types.ts) and of the client (client-types.ts).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { freePorts } from './free-ports.ts';

/** The part of JSON Schema that the contracts use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly 'x-codes'?: readonly string[] }>>;
}

export interface ContractDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Of what is taken, a field that may be left out may be undefined too: JSON has none of either. */
export function typeOf(schema: Schema, indent: string, isTaken = false): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'unknown';
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map(literal));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return union(choices.map((choice) => typeOf(choice, indent, isTaken)));
  if (schema.allOf !== undefined) return schema.allOf.map((part) => typeOf(part, indent, isTaken)).join(' & ');
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, indent, isTaken)));
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return arrayType(schema, indent, isTaken);
    case 'object':
      return objectType(schema, indent, isTaken);
    case undefined:
    default:
      return 'unknown';
  }
}

function arrayType({ items, prefixItems }: Schema, indent: string, isTaken: boolean): string {
  if (prefixItems !== undefined)
    return `readonly [${prefixItems.map((item) => typeOf(item, indent, isTaken)).join(', ')}]`;
  return `ReadonlyArray<${items === undefined ? 'unknown' : typeOf(items, indent, isTaken)}>`;
}

function objectType(schema: Schema, indent: string, isTaken: boolean): string {
  const { properties, required = [], additionalProperties } = schema;
  if (properties === undefined || Object.keys(properties).length === 0) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent, isTaken) : 'unknown';
    return `Readonly<Record<string, ${value}>>`;
  }
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, field]) => {
    const comment =
      field.description === undefined ? '' : `${inner}/** ${field.description.replaceAll('*/', '* /')} */\n`;
    const key = /^[a-z_$][\w$]*$/i.test(name) ? name : literal(name);
    const [mark, end] = required.includes(name) ? ['', ''] : ['?', isTaken ? ' | undefined' : ''];
    return `${comment}${inner}readonly ${key}${mark}: ${typeOf(field, inner, isTaken)}${end};\n`;
  });
  if (isTaken && typeof additionalProperties === 'object') fields.push(`${inner}readonly [field: string]: unknown;\n`);
  return `{\n${fields.join('')}${indent}}`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : String(value);
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ') || 'never';
}

/** Of a gateway that is started for it, on an empty folder. */
export async function documentOfThisTree(): Promise<ContractDocument> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-types-'));
  const [port] = await freePorts(1);
  const gateway = spawn(process.execPath, ['--expose-gc', 'src/main.ts', 'serve'], {
    stdio: 'ignore',
    env: { ...process.env, TOLLGATE_DATA: join(folder, 'data'), PORT: String(port) },
  });
  const ended = once(gateway, 'exit');
  try {
    for (;;) {
      if (gateway.exitCode !== null) throw new Error(`the gateway ended with ${gateway.exitCode}`);
      const answer = await request(`http://127.0.0.1:${port}/openapi.json`).catch(() => undefined);
      if (answer?.statusCode === 200) return (await answer.body.json()) as ContractDocument;
      await wait(100);
    }
  } finally {
    gateway.kill('SIGTERM');
    await ended;
    // The database may still be writing its last words.
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}
