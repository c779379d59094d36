import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePorts } from '../../scripts/free-ports.ts';
import { Gateway } from './gateway.ts';

/** The address that the documents use. */
const WRITTEN_URL = 'http://127.0.0.1:8787';

/** With the sandbox, the time of day, and links to media that can be followed. */
export async function linkedGateway(): Promise<Gateway> {
  const [port] = await freePorts(1);
  return Gateway.start({ settings: { TOLLGATE_TEST_CLOCK: '1', PORT: String(port) } });
}

/** The TypeScript of a document as one module: imports of the same names stand once, at its top. */
export function exampleProgram(file: string, url: string): string {
  const blocks = [...readFileSync(file, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
  const lines = blocks.join('\n').split('\n');
  const isImport = (line: string) => line.startsWith('import ');
  const imports = Map.groupBy(lines.filter(isImport), (line) => line.split(' from ')[1] ?? '');
  const merged = [...imports].map(
    ([from, same]) => `import { ${[...new Set(same.flatMap(namesIn))].join(', ')} } from ${from}`,
  );
  const code = lines.filter((line) => !isImport(line)).join('\n');
  return [...merged, code].join('\n').replaceAll(WRITTEN_URL, url);
}

function namesIn(line: string): string[] {
  return (/\{(.*)\}/.exec(line)?.[1] ?? '').split(',').map((name) => name.trim());
}

/** Puts a program into a folder where it finds packages of this tree. Returns its path. */
export function writeProgram(
  folder: string,
  code: string,
  packages: readonly string[],
  others: readonly string[] = [],
): string {
  mkdirSync(join(folder, 'node_modules/@tollgate'), { recursive: true });
  for (const name of packages) symlinkSync(resolve('packages', name), join(folder, 'node_modules/@tollgate', name));
  for (const name of others) symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
  const file = join(folder, 'program.ts');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(file, code);
  return file;
}
