import type { Environment } from '../config.ts';

/** One command of the program. */
export interface Command {
  /** The words by which it is called, such as `config check`. */
  readonly name: string;
  /** What follows them: names in capitals, in brackets where they may be absent. */
  readonly operands: readonly string[];
  /** Options beside --help: each takes a value, which the text names, or none. */
  readonly options: Readonly<Record<string, { readonly value?: string; readonly summary: string }>>;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly details: string;
  /** Where it cannot do its work; 1 unless the command says otherwise. */
  readonly failureCode?: number;
  /** Resolves to the exit code. */
  run(invocation: Invocation): Promise<number> | number;
}

export interface Invocation {
  readonly operands: readonly string[];
  /** An option without a value is an empty text. */
  readonly options: Readonly<Record<string, string>>;
  readonly environment: Environment;
}

/** The command line is not one of the program's. The message says what is wrong with it. */
export class UsageError extends Error {}

/** The command cannot do its work. The message is for the person at the terminal. */
export class CommandError extends Error {}
