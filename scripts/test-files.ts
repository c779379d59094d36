// Which files belong to which tier of tests, in which order they run, and how long each took.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, relative } from 'node:path';

export type Tier = 'first' | 'long';

/** Slow files, slowest first. Begun early, none of them is left to run alone at the end. */
const ORDER_FILE = 'test/slowest-first.txt';
const ORDER_LENGTH = 40;
const SHOWN = 10;
const ALL = ['src/**/*.test.ts', 'packages/*/src/**/*.test.ts', 'test/**/*.test.ts'];
const LONG = 'test/long/**';
// These need a browser: scripts/browser.ts runs them.
const BROWSER = 'test/browser/**';
// These need servers from Debian's packages: scripts/engines/main.ts runs them.
const ENGINES = 'test/engines/**';
// These need client programs from the registries: scripts/clients/main.ts runs them.
const CLIENTS = 'test/clients/**';
// These need Python: scripts/python/main.ts runs them.
const PYTHON = 'test/python/**';

/** The path decides: what lies in test/long is the long tier. */
export function filesOf(tier: Tier): string[] {
  if (tier === 'long') return globSync(`${LONG}/*.test.ts`);
  return globSync(ALL, { exclude: [LONG, BROWSER, ENGINES, CLIENTS, PYTHON] });
}

/** Of either tier: a path, or the name of a file without its folder and ending. Throws where there is none. */
export function filesNamed(names: readonly string[]): string[] {
  const all = globSync(ALL);
  return names.flatMap((name) => {
    if (name.endsWith('.ts') && existsSync(name)) return [name];
    const found = all.filter((file) => basename(file, '.test.ts') === basename(name, '.test.ts'));
    if (found.length === 0) throw new Error(`There is no test file "${name}".`);
    return found;
  });
}

/** The slow files that are known, then the others. */
export function slowestFirst(files: readonly string[]): string[] {
  const known = knownOrder().filter((file) => files.includes(file));
  return [...new Set([...known, ...files.toSorted()])];
}

/** Keeps the slowest of those that ran, and the place of those that did not. */
export function saveOrder(ran: readonly string[]): void {
  const others = knownOrder().filter((file) => existsSync(file) && !ran.includes(file));
  writeFileSync(ORDER_FILE, `${[...ran.slice(0, ORDER_LENGTH), ...others].join('\n')}\n`);
}

function knownOrder(): string[] {
  return readFileSync(ORDER_FILE, 'utf8')
    .split('\n')
    .filter((file) => file !== '');
}

/** Wall time of each file's process, its start included. */
export class FileTimes {
  readonly #begun = new Map<string, number>();
  readonly #took = new Map<string, number>();

  begin(file: string): void {
    if (file.endsWith('.test.ts')) this.#begun.set(file, performance.now());
  }

  end(file: string): void {
    const begun = this.#begun.get(file);
    if (begun !== undefined) this.#took.set(file, performance.now() - begun);
  }

  slowest(root: string): string[] {
    return this.#bySlowness().map(([file]) => relative(root, file));
  }

  show(root: string): string {
    const rows = this.#bySlowness().slice(0, SHOWN);
    const lines = rows.map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${relative(root, file)}`);
    const running = [...this.#begun.keys()].filter((file) => !this.#took.has(file));
    const unended = running.map((file) => `   no end  ${relative(root, file)}`);
    return ['', 'The slowest files:', ...lines, ...unended].join('\n');
  }

  #bySlowness(): [string, number][] {
    return [...this.#took].sort(([, a], [, b]) => b - a);
  }
}
