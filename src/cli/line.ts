import { parseArgs } from 'node:util';
import { didYouMean } from '../nearest.ts';
import { type Command, UsageError } from './command.ts';

/** A command line, split into words and options. */
export interface Line {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  readonly isHelp: boolean;
  readonly isVersion: boolean;
}

const FLAGS = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'V' } } as const;

type Known = Record<string, { readonly type: 'boolean' | 'string'; readonly short?: string }>;

/** Throws UsageError for an option that none of the commands has. */
export function readLine(args: readonly string[], commands: readonly Command[]): Line {
  const known: Known = { ...optionsOf(commands), ...FLAGS };
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
    if (!Object.hasOwn(known, token.name)) throw unknownOption(token.rawName, known);
    const isFlag = known[token.name]?.type === 'boolean';
    if (isFlag && token.value !== undefined) throw new UsageError(`${token.rawName} takes no value.`);
    if (!isFlag && !isValue(token)) throw new UsageError(`${token.rawName} needs a value.`);
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

/** Of all commands: an option takes a value in every command or in none. */
function optionsOf(commands: readonly Command[]): Known {
  return Object.fromEntries(
    commands.flatMap(({ options }) =>
      Object.entries(options).map(([name, { value, short }]) => [
        name,
        { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short && { short }) },
      ]),
    ),
  );
}

/** What begins with a dash is the next option, and the value was forgotten; a dash alone is standard output. */
function isValue({ value, inlineValue }: { value?: string | undefined; inlineValue?: boolean | undefined }): boolean {
  return value !== undefined && (inlineValue === true || value === '-' || !value.startsWith('-'));
}

function unknownOption(rawName: string, known: Known): UsageError {
  const names = Object.keys(known).map((name) => `--${name}`);
  const settings = 'Settings come from the environment, such as PORT=8080.';
  return new UsageError(`There is no option ${rawName}${didYouMean(rawName, names) || '.'} ${settings}`);
}
