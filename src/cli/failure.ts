import { ArchiveError } from '../backup/index.ts';
import { SealedWithAnotherSecret } from '../catalogue/index.ts';
import { ConfigError } from '../config.ts';
import { DocumentError } from '../configuration/index.ts';
import { DataFolderError } from '../data-folder.ts';
import { DatabaseUnavailable, MigrationError } from '../db/index.ts';
import { StartError } from '../start-error.ts';
import { CommandError, UsageError } from './command.ts';

const OPERATOR_ERRORS = [
  UsageError,
  CommandError,
  ArchiveError,
  ConfigError,
  DocumentError,
  DataFolderError,
  MigrationError,
  SealedWithAnotherSecret,
  StartError,
];

const ADDRESS_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program',
  EADDRNOTAVAIL: 'is not an address of this machine',
  EACCES: 'may not be used by this user',
};

/** What an operator can mend, in words; undefined for a bug of the program, which shows its stack instead. */
export function problemFor(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (OPERATOR_ERRORS.some((kind) => error instanceof kind)) return error.message;
  if (error instanceof DatabaseUnavailable) return databaseProblem(error.cause);
  return isAddressError(error) ? addressProblem(error) : undefined;
}

function databaseProblem(cause: unknown): string {
  // A name with several addresses fails with several errors and no message of its own.
  const errors = cause instanceof AggregateError ? cause.errors : [cause];
  const reasons = errors.map((error: unknown) => (error instanceof Error ? error.message : String(error)));
  return `The database is not available: ${reasons.join('; ')}. If DATABASE_URL is set, check it.`;
}

/** Under a supervisor it is the one that binds. */
const SYSTEM_CALLS: readonly unknown[] = ['listen', 'bind'];

type AddressError = Error & { readonly code: string; readonly address?: string; readonly port?: number };

function isAddressError(error: Error): error is AddressError {
  return (
    'code' in error &&
    String(error.code) in ADDRESS_PROBLEMS &&
    'syscall' in error &&
    SYSTEM_CALLS.includes(error.syscall)
  );
}

function addressProblem({ code, address, port }: AddressError): string {
  const place = port === undefined ? address : `${address}:${port}`;
  return `${place} ${ADDRESS_PROBLEMS[code]}. Choose another with PORT and HOST.`;
}
