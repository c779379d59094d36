import type { Environment } from '../config.ts';
import { EXIT } from './exit-codes.ts';

/** An option: takes a value, which the text names, or none. */
export interface Option {
  readonly value?: string;
  /** One letter, for `-o`. */
  readonly short?: string;
  readonly summary: string;
}

/** One command of the program. */
export interface Command {
  /** The words by which it is called, such as `config check`. */
  readonly name: string;
  /** What follows them: names in capitals, in brackets where they may be absent, with dots where there may be many. */
  readonly operands: readonly string[];
  /** Options beside --help. */
  readonly options: Readonly<Record<string, Option>>;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly details: string;
  /** Where it cannot do its work; 1 unless the command says otherwise. */
  readonly failureCode?: number;
  /** A gateway command: reaches one by address and credential. Others are deployment commands, which work by settings. */
  readonly isRemote?: true;
  /** Resolves to the exit code. */
  run(invocation: Invocation): Promise<number> | number;
}

export interface Invocation {
  readonly operands: readonly string[];
  /** An option without a value is an empty text. */
  readonly options: Readonly<Record<string, string>>;
  readonly environment: Environment;
  /** Aborted by Ctrl-C and SIGTERM, in commands that reach a gateway. */
  readonly signal: AbortSignal;
}

/** The command line is not one of the program's. The message says what is wrong with it. */
export class UsageError extends Error {}

/** The command cannot do its work. The message is for the person at the terminal. */
export class CommandError extends Error {
  /** The command's own failure code unless this names one. */
  readonly exitCode: number | undefined;
  /** The gateway's code of the error and the request that it answered, where there was one. */
  readonly code: string | undefined;
  readonly requestId: string | undefined;

  constructor(message: string, more: { exitCode?: number; code?: string; requestId?: string; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.exitCode = more.exitCode;
    this.code = more.code;
    this.requestId = more.requestId;
  }
}

/** Ctrl-C or SIGTERM. The message, where there is one, says what goes on without the command. */
export class Interrupted extends CommandError {
  constructor(message = '') {
    super(message, { exitCode: EXIT.interrupted });
  }
}
