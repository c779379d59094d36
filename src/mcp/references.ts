import { ApiError } from '../errors.ts';
import { getFile } from '../files/index.ts';
import { isIdOf } from '../ids.ts';
import { getAssets, results } from '../jobs/index.ts';
import type { Scope } from '../scopes.ts';
import type { McpDeps } from './deps.ts';
import type { ToolCall } from './tool.ts';

/** How media are named in the arguments of a tool, for the descriptions of the schemas. */
export const REFERENCE =
  'An https URL, or the id of a file (file_…), a result (ast_…) or a job (job_…) of this account.';

/**
 * The address of what an argument names. An id of the account becomes a link of ours, which later steps read from the store
 * without fetching; anything else is returned as it is, for the same checks as on `/v1`. Throws `file_not_found` or
 * `job_not_found`, alike for another account's.
 */
export async function urlOf(deps: McpDeps, call: ToolCall, reference: string): Promise<string> {
  const { accountId } = call.caller;
  if (isIdOf('file', reference)) {
    requireScope(call, 'user:files');
    return (await getFile(deps, accountId, reference)).url;
  }
  if (!isIdOf('ast', reference) && !isIdOf('job', reference)) return reference;
  // What was made is read here, as GET /v1/jobs/{job_id}/assets reads it.
  requireScope(call, 'user:jobs');
  if (isIdOf('ast', reference)) return (await results.findAsset(deps, accountId, reference)).url;
  const [first] = await getAssets(deps, accountId, reference);
  if (first === undefined) throw new ApiError('job_not_found');
  return first.url;
}

function requireScope({ caller: { scopes } }: ToolCall, scope: Scope): void {
  if (scopes === undefined || scopes.has(scope)) return;
  throw new ApiError('insufficient_scope', { message: `The access token lacks the scope "${scope}".` });
}
