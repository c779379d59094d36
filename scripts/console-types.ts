// Writes console/src/api/schema.ts: the named shapes of /openapi.json as types, so that the console knows the gateway's
// answers by the gateway's own contracts. A test compares.
import { writeFile } from 'node:fs/promises';
import { type ContractDocument, documentOfThisTree, typeOf } from './contract-types.ts';

export const TYPES_FILE = 'console/src/api/schema.ts';

if (import.meta.main) await writeFile(TYPES_FILE, typesOf(await documentOfThisTree()));

export function typesOf({ components }: ContractDocument): string {
  const named = Object.entries(components.schemas).sort(([one], [other]) => (one < other ? -1 : 1));
  const types = named.map(([name, schema]) => `export type ${name} = ${typeOf(schema, '')};\n`);
  return `// Made by "npm run console:types" from the gateway's contracts. Read it; do not edit it.\n\n${types.join('\n')}`;
}
