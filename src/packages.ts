import { StartError } from './start-error.ts';

// The packages of this repository that an installation may leave out: docs/operating.md, "Deployment".

/** Throws StartError where the package is not installed. */
export async function loadEmbeddedPostgres() {
  const problem = missingPackage('@tollgate/embedded-postgres');
  if (problem !== undefined) {
    throw new StartError(`DATABASE_URL is not set, and the embedded PostgreSQL is ${problem}.`);
  }
  return import('@tollgate/embedded-postgres');
}

/** Throws StartError where the package is not installed. */
export async function loadVerify() {
  const problem = missingPackage('@tollgate/verify');
  if (problem !== undefined) throw new StartError(`The campaigns are ${problem}.`);
  return import('@tollgate/verify');
}

/** What is wrong and what to do about it, where the package is not installed. */
export function missingPackage(name: string): string | undefined {
  try {
    import.meta.resolve(name);
    return undefined;
  } catch {
    return `in the package ${name}, which is not installed: run "npm ci --omit=dev" where the program lies`;
  }
}
