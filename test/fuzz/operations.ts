// The operations of the published contract, as the fuzzer wants them.
import type { Schema } from './schema-values.ts';

interface DocumentedOperation {
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

/** Which door an operation has. */
export type Door = 'public' | 'key' | 'oauth' | 'session' | 'operator';

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly doors: readonly Door[];
  readonly parameters: readonly Parameter[];
  /** Of its JSON body. */
  readonly schema: Schema | undefined;
  readonly takesForm: boolean;
  readonly takesText: boolean;
}

export function operationsOf(document: OpenApi): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const content = operation.requestBody?.content ?? {};
      return {
        method: method.toUpperCase(),
        path,
        doors: operation.security.length === 0 ? ['public' as const] : operation.security.map(doorOf),
        parameters: operation.parameters ?? [],
        schema: 'application/json' in content ? (content['application/json']?.schema ?? {}) : undefined,
        takesForm: 'multipart/form-data' in content,
        takesText: 'application/yaml' in content,
      };
    }),
  );
}

function doorOf(security: Readonly<Record<string, unknown>>): Door {
  return Object.keys(security)[0] as Door;
}
