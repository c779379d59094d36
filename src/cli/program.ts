import type { Environment } from '../config.ts';
import { didYouMean } from '../nearest.ts';
import { VERSION } from '../version.ts';
import { type Command, CommandError, Interrupted, UsageError } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { helpFor, overview } from './help.ts';
import { type Line, readLine } from './line.ts';
import { ACCOUNT_COMMANDS } from './table/account.ts';
import { DEPLOYMENT_COMMANDS } from './table/deployment.ts';
import { OPERATOR_COMMANDS } from './table/operator.ts';
import { WORK_COMMANDS } from './table/work.ts';

/** A terminal's Ctrl-C reaches the launcher too, which passes it on: two so close together are one. */
const ECHO_MS_MAX = 250;

const COMPLETION: Command = {
  name: 'completion',
  operands: ['SHELL'],
  options: {},
  summary: 'print the completion script of bash, zsh or fish',
  details: `Prints a script that completes commands and options. For bash: eval "$(tollgate completion bash)" in
~/.bashrc; for zsh the same in ~/.zshrc; for fish: tollgate completion fish > ~/.config/fish/completions/tollgate.fish.`,
  run: async ({ operands: [shell = ''] }) => {
    const { completionScript } = await import('./completion.ts');
    console.log(completionScript(shell, COMMANDS));
    return EXIT.done;
  },
};

const COMMANDS: readonly Command[] = [
  ...WORK_COMMANDS,
  ...ACCOUNT_COMMANDS,
  ...OPERATOR_COMMANDS,
  ...DEPLOYMENT_COMMANDS,
  COMPLETION,
];

const CHAPTERS: readonly (readonly [title: string, commands: readonly Command[]])[] = [
  ['Work with a gateway, by its address and a key:', [...WORK_COMMANDS, ...ACCOUNT_COMMANDS]],
  ['Operate a gateway, by its address and the admin token:', OPERATOR_COMMANDS],
  ['Look after a deployment, where its settings are:', DEPLOYMENT_COMMANDS],
  ['The shell:', [COMPLETION]],
];

/** Runs the command that the arguments name, `serve` without any. Resolves to the exit code: 2 for a misuse. */
export async function runProgram(args: readonly string[], environment: Environment): Promise<number> {
  let command: Command | undefined;
  try {
    const line = readLine(args, COMMANDS);
    if (line.isVersion) console.log(VERSION);
    else if (line.isHelp) console.log(helpOf(line.words));
    else {
      command = commandOf(line.words.length === 0 ? ['serve'] : line.words);
      return await runCommand(command, line, environment);
    }
    return EXIT.done;
  } catch (error) {
    return reportFailure(error, command, command?.isRemote === true && args.includes('--json'));
  }
}

async function reportFailure(error: unknown, command: Command | undefined, isJson: boolean): Promise<number> {
  if (error instanceof UsageError) {
    console.error(error.message);
    console.error('Run "tollgate --help" for the commands and their options.');
    return EXIT.usage;
  }
  if (!(error instanceof CommandError)) {
    // What the gateway's parts throw is known to a module that loads them, so it loads for such an error alone.
    const { problemFor } = await import('./failure.ts');
    console.error(problemFor(error) ?? error);
    return command?.failureCode ?? EXIT.failed;
  }
  const { message, code, requestId, exitCode = command?.failureCode ?? EXIT.failed } = error;
  const trace = requestId === undefined ? '' : ` (${code}, request ${requestId})`;
  if (isJson) console.error(JSON.stringify({ error: { message, code, request_id: requestId, exit_code: exitCode } }));
  else if (message !== '') console.error(message + trace);
  return exitCode;
}

async function runCommand(command: Command, { words, options }: Line, environment: Environment): Promise<number> {
  const operands = words.slice(wordsOf(command).length);
  refuseOperands(command, operands);
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(command.options, name)) throw new UsageError(`tollgate ${command.name} takes no --${name}.`);
  }
  if (command.isRemote) return runRemote(command, { operands, options, environment });
  // An exit stops a database server that the command has started; a signal alone would leave it.
  if (command.name !== 'serve') for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(1));
  return command.run({ operands, options, environment, signal: new AbortController().signal });
}

/** The first signal aborts what the command waits for; a second one ends the process. */
async function runRemote(command: Command, rest: Omit<Parameters<Command['run']>[0], 'signal'>): Promise<number> {
  const controller = new AbortController();
  let abortedMs: number | undefined;
  const stop = () => {
    if (abortedMs !== undefined && performance.now() - abortedMs > ECHO_MS_MAX) process.exit(EXIT.interrupted);
    abortedMs ??= performance.now();
    controller.abort(new Interrupted());
  };
  const onOutputError = (error: Error) => {
    if ('code' in error && error.code === 'EPIPE') process.exit(EXIT.brokenPipe);
    throw error;
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
  process.stdout.on('error', onOutputError);
  try {
    const code = await command.run({ ...rest, signal: controller.signal });
    // The error of a broken pipe comes as an event, which an exit at once would be ahead of.
    await new Promise(setImmediate);
    return code;
  } catch (error) {
    throw controller.signal.aborted && !(error instanceof CommandError) ? new Interrupted() : error;
  } finally {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, stop);
    process.stdout.off('error', onOutputError);
  }
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
  if (command.operands.at(-1)?.includes('...')) return;
  const surplus = operands.at(command.operands.length);
  if (surplus !== undefined) throw new UsageError(`tollgate ${command.name} has no use for "${surplus}".`);
}

function helpOf(words: readonly string[]): string {
  if (words.length === 0) return `Usage: tollgate COMMAND\n\n${overview(CHAPTERS)}`;
  const group = COMMANDS.filter((command) => command.name.startsWith(`${words[0]} `));
  return words.length === 1 && group.length > 0 ? overview([['Usage:', group]]) : helpFor(commandOf(words));
}
