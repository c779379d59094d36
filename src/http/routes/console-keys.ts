import { type Account, createKey, deleteKey, rollKey, updateKey } from '../../accounts/index.ts';
import { ApiError } from '../../errors.ts';
import { ADMIN_BODY_BYTES_MAX } from '../../limits.ts';
import { pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, type Routes } from '../edge/route.ts';
import { keyRecordSchema, newKeySchema, rolledKeySchema } from '../views/admin.ts';
import {
  deletedKeySchema,
  keyChangeBody,
  keyChangeOf,
  keyRecordOf,
  keyRecordsOf,
  keySettingsOf,
  newKeyBody,
  newKeyView,
  requireAccount,
  rollBody,
  rolledKeyView,
} from './key-bodies.ts';

/** The keys of the account that the session works in. Viewers may look; members make, change and delete them. */
export function consoleKeyRoutes(routes: Routes, deps: HttpDeps): void {
  const refuseFasterThanAllowed = async (accountId: string, rates: Rates) =>
    refuseFaster(rates, await requireAccount(deps, accountId), deps.config);

  routes.add(
    {
      method: 'GET',
      path: '/api/console/keys',
      summary: 'The live keys of the account, newest first',
      access: 'session',
      role: 'viewer',
      query: pageQuery,
      answers: { 200: listOf(keyRecordSchema) },
      codes: ['account_not_found'],
    },
    ({ accountId, query }) => keyRecordsOf(deps, accountId, query),
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/console/keys',
      summary: 'Make an API key; the answer is the only place that ever shows it',
      access: 'session',
      role: 'member',
      body: { kind: 'json', schema: newKeyBody, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: newKeySchema },
      codes: ['account_not_found', 'key_limit_reached'],
    },
    async ({ accountId, body, actor, reply }) => {
      await refuseFasterThanAllowed(accountId, body);
      return newKeyView(deps, reply, await createKey(deps, actor, accountId, keySettingsOf(body)));
    },
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/console/keys/{key_id}',
      summary: 'Disable or enable a key, or change its name and limits',
      access: 'session',
      role: 'member',
      body: { kind: 'json', schema: keyChangeBody, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: keyRecordSchema },
      codes: ['account_not_found', 'key_not_found'],
    },
    async ({ accountId, param, body, actor }) => {
      await refuseFasterThanAllowed(accountId, body);
      const key = await updateKey(deps, actor, { id: param('key_id'), accountId }, keyChangeOf(body));
      return keyRecordOf(deps, key);
    },
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/console/keys/{key_id}/roll',
      summary: 'Make a key in the place of another, which works on for the overlap; together they spend what one may',
      access: 'session',
      role: 'member',
      body: { kind: 'json', schema: rollBody, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: rolledKeySchema },
      codes: ['key_not_found', 'key_over', 'key_limit_reached'],
    },
    async ({ accountId, param, body, actor, reply }) => {
      const rolled = await rollKey(deps, actor, { id: param('key_id'), accountId }, body.overlap_seconds * 1000);
      return rolledKeyView(deps, reply, rolled);
    },
  );

  routes.add(
    {
      method: 'DELETE',
      path: '/api/console/keys/{key_id}',
      summary: 'Delete a key; it is refused everywhere once this is answered',
      access: 'session',
      role: 'member',
      answers: { 200: deletedKeySchema },
      codes: ['key_not_found'],
    },
    async ({ accountId, param, actor }) => {
      const { id } = await deleteKey(deps, actor, { id: param('key_id'), accountId });
      return { id, object: 'api_key', deleted: true };
    },
  );
}

interface Rates {
  readonly rpm?: number | null | undefined;
  readonly concurrency?: number | null | undefined;
}

/** Only an operator gives a key more than the account's rates, or else the deployment's. */
function refuseFaster(rates: Rates, account: Account, config: HttpDeps['config']): void {
  const most = { rpm: account.rpm ?? config.defaultRpm, concurrency: account.concurrency ?? config.defaultConcurrency };
  for (const field of ['rpm', 'concurrency'] as const) {
    if ((rates[field] ?? 0) <= most[field]) continue;
    const message = `"${field}": expected at most ${most[field]}, which is what the account may have.`;
    throw new ApiError('invalid_parameter', { message, param: field });
  }
}
