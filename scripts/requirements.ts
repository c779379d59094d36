// Which numbered requirements have a test. Reads their list from ../shared/spec/requirements.md where that lies beside
// the project. `--save` writes the tested ones to test/requirements.txt, from which a test lets none disappear again.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const TESTED_FILE = 'test/requirements.txt';
const SPECIFICATION = fileURLToPath(new URL('../../shared/spec/requirements.md', import.meta.url));

/** Requirements that wait for a part of the program which does not exist yet. */
const LATER: readonly { readonly part: string; readonly numbers: readonly (number | readonly [number, number])[] }[] =
  JSON.parse(readFileSync(new URL('../test/requirements-later.json', import.meta.url), 'utf8'));

if (import.meta.main) report();

/** The R-numbers that the names of tests begin with. */
export function testedNumbers(): number[] {
  const files = globSync('{src,packages/*/src,test}/**/*.test.ts');
  const names = files.flatMap((file) => readFileSync(file, 'utf8').match(/['"`]R-\d{3}\b[^'"`]*/g) ?? []);
  const numbers = names.flatMap((name) => name.match(/R-\d{3}/g) ?? []).map((text) => Number(text.slice(2)));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function report(): void {
  const tested = testedNumbers();
  if (process.argv.includes('--save')) writeFileSync(TESTED_FILE, `${tested.map(label).join('\n')}\n`);
  if (!existsSync(SPECIFICATION)) {
    console.log(`${tested.length} requirements have a test: ${tested.map(label).join(' ')}`);
    return;
  }
  let waiting = 0;
  for (const { title, numbers } of sections(readFileSync(SPECIFICATION, 'utf8'))) {
    const untested = numbers.filter((number) => !tested.includes(number));
    const without = untested.filter((number) => partOf(number) === undefined);
    waiting += without.length;
    console.log(`${title}: ${numbers.length - untested.length} of ${numbers.length} tested`);
    for (const { part } of LATER) {
      const later = untested.filter((number) => partOf(number) === part);
      if (later.length > 0) console.log(`    with ${part}: ${later.map(label).join(' ')}`);
    }
    if (without.length > 0) console.log(`    NO TEST YET: ${without.map(label).join(' ')}`);
  }
  console.log(`${tested.length} requirements have a test; ${waiting} have neither a test nor a later part.`);
}

function sections(text: string): { title: string; numbers: number[] }[] {
  const parts = text.split(/^## /m).slice(1);
  return parts
    .map((part) => ({
      title: part.split('\n', 1)[0] ?? '',
      numbers: [...part.matchAll(/^- \*\*R-(\d{3})\*\*/gm)].map(([, number]) => Number(number)),
    }))
    .filter(({ numbers }) => numbers.length > 0);
}

function partOf(number: number): string | undefined {
  const covers = (range: number | readonly [number, number]) =>
    typeof range === 'number' ? range === number : number >= range[0] && number <= range[1];
  return LATER.find(({ numbers }) => numbers.some(covers))?.part;
}

function label(number: number): string {
  return `R-${String(number).padStart(3, '0')}`;
}
