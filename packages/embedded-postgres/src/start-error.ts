import { statfs } from 'node:fs/promises';
import { StartError } from '../../../src/start-error.ts';

/** The embedded server could not be started. The message is for the person at the terminal. */
export class PostgresStartError extends StartError {
  /** Trying again may help. */
  readonly mayPass: boolean;

  constructor(problem: string, options: StartErrorOptions = {}) {
    const output = options.output ?? [];
    const lastLines = output.length === 0 ? [] : ['Its last lines were:', ...output.map((line) => `  ${line}`)];
    super([problem, ...lastLines, options.advice ?? OWN_SERVER].join('\n'), { cause: options.cause });
    this.mayPass = options.mayPass ?? false;
    this.name = 'PostgresStartError';
  }
}

interface StartErrorOptions {
  /** What the program said at the end. */
  readonly output?: readonly string[];
  /** What to do about it. */
  readonly advice?: string;
  readonly mayPass?: boolean;
  readonly cause?: unknown;
}

const OWN_SERVER = 'To use a PostgreSQL server of your own instead, set DATABASE_URL.';

/** Whatever went wrong, as an error for a person. */
export function asStartError(error: unknown, folder: string): PostgresStartError {
  if (error instanceof PostgresStartError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const advice = isDiskFull(reason) ? diskFullAdvice(folder) : OWN_SERVER;
  return new PostgresStartError(`The embedded PostgreSQL could not be started: ${reason}`, { advice, cause: error });
}

/** One of PostgreSQL's programs did not do its work; tells a person why, as far as it said. */
export async function endedError(
  problem: string,
  context: { folder: string; output: readonly string[]; mayPass: boolean },
): Promise<PostgresStartError> {
  const { folder, output } = context;
  // On a full disk it may not even have been able to say so.
  const isFull = isDiskFull(output.join('\n')) || (await freeBytes(folder)) < FREE_BYTES_MIN;
  const advice = isFull ? diskFullAdvice(folder) : OWN_SERVER;
  return new PostgresStartError(problem, { output, advice, mayPass: context.mayPass && !isFull });
}

/** Less than one segment of the write-ahead log. */
const FREE_BYTES_MIN = 16 * 1024 * 1024;

async function freeBytes(folder: string): Promise<number> {
  return statfs(folder).then(
    (disk) => disk.bavail * disk.bsize,
    () => Number.POSITIVE_INFINITY,
  );
}

function isDiskFull(text: string): boolean {
  return /ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/i.test(text);
}

function diskFullAdvice(folder: string): string {
  return `The disk that holds ${folder} is full: free some space, or choose another folder with TOLLGATE_DATA.`;
}
