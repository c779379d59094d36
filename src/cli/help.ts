import type { Command, Option } from './command.ts';

const WIDTH_MAX = 34;

/** The commands in lists, one line each. */
export function overview(chapters: readonly (readonly [title: string, commands: readonly Command[]])[]): string {
  const sections = chapters.map(([title, commands]) => [title, ...commands.map(summaryLine)].join('\n'));
  return [...sections, FOOT].join('\n\n');
}

function summaryLine(command: Command): string {
  const call = ['tollgate', command.name, ...command.operands].join(' ');
  return `  ${call.padEnd(WIDTH_MAX)}  ${command.summary}`;
}

const FOOT = `  tollgate COMMAND --help (-h)        more about one command, with its options
  tollgate --version (-V)             the release

Commands that reach a gateway find it by --url, TOLLGATE_URL, the last "tollgate login", or at http://127.0.0.1:8787; the
key is TOLLGATE_KEY or the one of that login. docs/cli.md tells more, and what every exit code means.
Commands for a deployment have the same settings as the gateway itself: TOLLGATE_DATA names its data folder, DATABASE_URL a
PostgreSQL server of your own. docs/settings.md lists them all.`;

export function helpFor(command: Command): string {
  const options = Object.entries(command.options).map(
    ([name, option]) => `  ${optionText(name, option)}`.padEnd(24) + option.summary,
  );
  return [`Usage: ${callOf(command)}`, '', command.details, ...(options.length > 0 ? ['', ...options] : [])].join('\n');
}

function callOf({ name, operands, options }: Command): string {
  const optional = Object.entries(options).map(([option, about]) => `[${optionText(option, about)}]`);
  return ['tollgate', name, ...operands, ...optional].join(' ');
}

function optionText(name: string, { value, short }: Option): string {
  const names = short === undefined ? `--${name}` : `-${short}, --${name}`;
  return value === undefined ? names : `${names} ${value}`;
}
