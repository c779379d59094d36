import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

// Documents whose commands are run as they stand there.

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Block {
  readonly commands: string;
  /** The test that a line below the block names, where it is not the document's own. */
  readonly runBy: string | undefined;
  /** Why no test can run it, as a line below the block says. */
  readonly notRun: string | undefined;
}

export interface Section {
  readonly heading: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

export function readDocument(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The fenced blocks of one language. */
export function fencedBlocks(markdown: string, language: string): Block[] {
  const fenced = new RegExp(
    `^( *)\`\`\`${language}\n(.*?)^ *\`\`\`$(?:\n *Run by \`([^\`]+)\`)?(?:\n *Not run by a test: ([^.]+))?`,
    'gms',
  );
  return [...markdown.matchAll(fenced)].map(([, indent = '', block = '', runBy, notRun]) => ({
    commands: block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    runBy,
    notRun,
  }));
}

/** A document by its headings of the second level, with the commands of a shell below each. */
export function sectionsOf(path: string): Section[] {
  return readDocument(path)
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [heading = '', ...lines] = part.split('\n');
      const markdown = lines.join('\n');
      return { heading, text: markdown, blocks: fencedBlocks(markdown, 'sh') };
    });
}

/** The commands of docs/operating.md below a heading that name `test` as the one that runs them, one after the other. */
export function commandsRunBy(test: string, heading: string): string {
  const section = sectionsOf('docs/operating.md').find((one) => one.heading === heading);
  const own = section?.blocks.filter(({ runBy }) => runBy === test) ?? [];
  if (own.length === 0) throw new Error(`docs/operating.md, "${heading}", has no commands that ${test} runs.`);
  return own.map(({ commands }) => commands).join('\n');
}

/** What docs/operating.md has its reader set up before the commands of any section. */
export function commandPreamble(): string {
  const [block] = sectionsOf('docs/operating.md').find(({ heading }) => heading === PREAMBLE)?.blocks ?? [];
  if (block === undefined) throw new Error(`docs/operating.md, "${PREAMBLE}", has no commands.`);
  return block.commands;
}

export const PREAMBLE = 'How commands are written here';

/** Runs commands in one shell, which stops at the first that fails. */
export async function runShell(
  commands: string,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<{ output: string; code: number | null }> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `exec 2>&1\n${commands}`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const output = await text(child.stdout);
  return { output, code: await ended };
}
