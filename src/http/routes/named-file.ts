import type { Caller } from '../../accounts/index.ts';
import { ApiError } from '../../errors.ts';
import { getFile, type LinkedFile } from '../../files/index.ts';
import type { HttpDeps } from '../deps.ts';

/**
 * A file of the caller's account that a request names by its id. Throws ApiError: `insufficient_scope` for an app without
 * the scope of files, `file_not_found` alike for what is not there and what is another account's.
 */
export async function namedFile(deps: HttpDeps, { accountId, scopes }: Caller, id: string): Promise<LinkedFile> {
  if (scopes?.has('user:files') === false) {
    throw new ApiError('insufficient_scope', { message: 'The access token lacks the scope "user:files".' });
  }
  return getFile(deps, accountId, id);
}
