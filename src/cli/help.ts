import type { Command } from './command.ts';

/** The commands in a list, one line each. */
export function overview(commands: readonly Command[]): string {
  const calls = commands.map(callOf);
  const width = Math.max(...calls.map((call) => call.length)) + 2;
  const lines = commands.map(({ summary }, at) => `  ${(calls[at] ?? '').padEnd(width)}${summary}`);
  return ['Usage:', ...lines, '', ...FOOT].join('\n');
}

const FOOT = [
  '  tollgate COMMAND --help (-h)      more about one command',
  '  tollgate --version (-V)           the release',
  '',
  'Settings come from the environment, the same for every command as for the gateway itself: TOLLGATE_DATA names its',
  'data folder, DATABASE_URL a PostgreSQL server of your own. docs/settings.md lists them all.',
];

export function helpFor(command: Command): string {
  const options = Object.entries(command.options).map(
    ([name, { value, summary }]) => `  ${optionText(name, value)}`.padEnd(20) + summary,
  );
  return [`Usage: ${callOf(command)}`, '', command.details, ...(options.length > 0 ? ['', ...options] : [])].join('\n');
}

function callOf({ name, operands, options }: Command): string {
  const optional = Object.entries(options).map(([option, { value }]) => `[${optionText(option, value)}]`);
  return ['tollgate', name, ...operands, ...optional].join(' ');
}

function optionText(name: string, value: string | undefined): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}
