// Writes packages/client/src/contract.ts: what the calls of the client library take and answer, and the codes that they are
// refused with, as types made from /openapi.json. A test compares.
import { writeFile } from 'node:fs/promises';
import { clientShapesOf } from './client-shapes.ts';
import { type ContractDocument, documentOfThisTree, typeOf } from './contract-types.ts';

export const CLIENT_TYPES_FILE = 'packages/client/src/contract.ts';

if (import.meta.main) await writeFile(CLIENT_TYPES_FILE, clientTypesOf(await documentOfThisTree()));

export function clientTypesOf(document: ContractDocument): string {
  const { codes, taken, answered } = clientShapesOf(document);
  const types = [
    ...taken.map(([name, schema]) => [name, typeOf(schema, '', true)] as const),
    ...answered.map(([name, schema]) => [name, typeOf(schema, '')] as const),
  ];
  const written = types
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, type]) => `export type ${name} = ${type};\n`);
  const head = '// Made by "npm run client:types" from the gateway\'s contracts. Read it; do not edit it.\n';
  const union = codes.map((code) => `  | '${code}'\n`).join('');
  return `${head}\nexport type ErrorCode =\n${union.trimEnd()};\n\n${written.join('\n')}`;
}
