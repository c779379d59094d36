import { parseArgs } from 'node:util';
import type { Environment } from '../config.ts';
import { didYouMean } from '../nearest.ts';
import { VERSION } from '../version.ts';
import { type Command, CommandError, UsageError } from './command.ts';
import { helpFor, overview } from './help.ts';
import { DEPLOYMENT_COMMANDS } from './table/deployment.ts';

const COMMANDS: readonly Command[] = DEPLOYMENT_COMMANDS;

/** Runs the command that the arguments name, `serve` without any. Resolves to the exit code: 2 for a misuse. */
export async function runProgram(args: readonly string[], environment: Environment): Promise<number> {
  let command: Command | undefined;
  try {
    const line = readLine(args);
    if (line.isVersion) console.log(VERSION);
    else if (line.isHelp) console.log(helpOf(line.words));
    else {
      command = commandOf(line.words.length === 0 ? ['serve'] : line.words);
      return await runCommand(command, line, environment);
    }
    return 0;
  } catch (error) {
    console.error((await problemOf(error)) ?? error);
    if (error instanceof UsageError) console.error('Run "tollgate --help" for the commands and their options.');
    return error instanceof UsageError ? 2 : (command?.failureCode ?? 1);
  }
}

/** What the gateway's parts throw is known to a module that loads them, so it loads for such an error alone. */
async function problemOf(error: unknown): Promise<string | undefined> {
  if (error instanceof UsageError || error instanceof CommandError) return error.message;
  return (await import('./failure.ts')).problemFor(error);
}

interface Line {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  readonly isHelp: boolean;
  readonly isVersion: boolean;
}

const FLAGS = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'V' } } as const;
/** Of all commands: those that take a value, and those that do not. An option is one or the other in every command. */
const OPTIONS = Object.fromEntries(
  COMMANDS.flatMap(({ options }) =>
    Object.entries(options).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  ),
);

function readLine(args: readonly string[]): Line {
  const known = { ...FLAGS, ...OPTIONS };
  // Not strict: its errors know no hint.
  const { tokens } = parseArgs({
    args: [...args],
    options: known,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const words: string[] = [];
  const options: Record<string, string> = {};
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    if (!Object.hasOwn(known, token.name)) throw unknownOption(token.rawName);
    const isFlag = Object.hasOwn(FLAGS, token.name) || OPTIONS[token.name]?.type === 'boolean';
    if (isFlag && token.value !== undefined) throw new UsageError(`${token.rawName} takes no value.`);
    // A value that begins with a dash is the next option, and the value was forgotten.
    const isValue = token.value !== undefined && (token.inlineValue || !token.value.startsWith('-'));
    if (!isFlag && !isValue) throw new UsageError(`${token.rawName} needs a value.`);
    options[token.name] = token.value ?? '';
  }
  const { help, version, ...rest } = options;
  const isHelp = help !== undefined || words[0] === 'help';
  return {
    words: words[0] === 'help' ? words.slice(1) : words,
    options: rest,
    isHelp,
    isVersion: version !== undefined,
  };
}

async function runCommand(command: Command, { words, options }: Line, environment: Environment): Promise<number> {
  const operands = words.slice(wordsOf(command).length);
  refuseOperands(command, operands);
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(command.options, name)) throw new UsageError(`tollgate ${command.name} takes no --${name}.`);
  }
  // An exit stops a database server that the command has started; a signal alone would leave it.
  if (command.name !== 'serve') for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(1));
  return command.run({ operands, options, environment });
}

function wordsOf({ name }: Command): readonly string[] {
  return name.split(' ');
}

function commandOf(words: readonly string[]): Command {
  const match = COMMANDS.find((command) => wordsOf(command).every((word, at) => words[at] === word));
  if (match !== undefined) return match;
  const [first = '', second] = words;
  const group = COMMANDS.filter((command) => wordsOf(command)[0] === first).map((command) => wordsOf(command)[1] ?? '');
  if (group.length === 0) {
    const known = [...new Set(COMMANDS.map((command) => wordsOf(command)[0] ?? ''))];
    throw new UsageError(`There is no command "${first}"${didYouMean(first, known) || '.'}`);
  }
  if (second === undefined) throw new UsageError(`tollgate ${first} needs one of: ${group.join(', ')}.`);
  throw new UsageError(`There is no command "${first} ${second}"${didYouMean(second, group) || '.'}`);
}

function refuseOperands(command: Command, operands: readonly string[]): void {
  const missing = command.operands.filter((name) => !name.startsWith('[')).at(operands.length);
  if (missing !== undefined) throw new UsageError(`tollgate ${command.name} needs ${missing}.`);
  const surplus = operands.at(command.operands.length);
  if (surplus !== undefined) throw new UsageError(`tollgate ${command.name} has no use for "${surplus}".`);
}

function unknownOption(rawName: string): UsageError {
  const known = [...Object.keys(FLAGS), ...Object.keys(OPTIONS)].map((name) => `--${name}`);
  const settings = 'Settings come from the environment, such as PORT=8080.';
  return new UsageError(`There is no option ${rawName}${didYouMean(rawName, known) || '.'} ${settings}`);
}

function helpOf(words: readonly string[]): string {
  if (words.length === 0) return overview(COMMANDS);
  const group = COMMANDS.filter((command) => command.name.startsWith(`${words[0]} `));
  return words.length === 1 && group.length > 0 ? overview(group) : helpFor(commandOf(words));
}
