import { createKey, deleteKey, rollKey, updateKey } from '../../accounts/index.ts';
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
  rollBody,
  rolledKeyView,
} from './key-bodies.ts';

export function keyAdminRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/api/admin/accounts/{account_id}/keys',
      summary: 'Make an API key; the answer is the only place that ever shows it',
      access: 'operator',
      example: { name: 'laptop' },
      body: { kind: 'json', schema: newKeyBody, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: newKeySchema },
      codes: ['account_not_found', 'key_limit_reached'],
    },
    async ({ param, body, actor, reply }) => {
      const made = await createKey(deps, actor, param('account_id'), keySettingsOf(body));
      return newKeyView(deps, reply, made);
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/accounts/{account_id}/keys',
      summary: 'The live keys of an account, newest first',
      access: 'operator',
      query: pageQuery,
      answers: { 200: listOf(keyRecordSchema) },
      codes: ['account_not_found'],
    },
    ({ param, query }) => keyRecordsOf(deps, param('account_id'), query),
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/admin/keys/{key_id}',
      summary: 'Disable or enable a key, or change its name and limits',
      access: 'operator',
      body: { kind: 'json', schema: keyChangeBody, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: keyRecordSchema },
      codes: ['key_not_found'],
    },
    async ({ param, body, actor }) => {
      const key = await updateKey(deps, actor, { id: param('key_id') }, keyChangeOf(body));
      return keyRecordOf(deps, key);
    },
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/admin/keys/{key_id}/roll',
      summary: 'Make a key in the place of another, which works on for the overlap; together they spend what one may',
      access: 'operator',
      body: { kind: 'json', schema: rollBody, bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: rolledKeySchema },
      codes: ['key_not_found', 'key_over', 'key_limit_reached'],
    },
    async ({ param, body, actor, reply }) => {
      const rolled = await rollKey(deps, actor, { id: param('key_id') }, body.overlap_seconds * 1000);
      return rolledKeyView(deps, reply, rolled);
    },
  );

  routes.add(
    {
      method: 'DELETE',
      path: '/api/admin/keys/{key_id}',
      summary: 'Delete a key; it is refused everywhere once this is answered',
      access: 'operator',
      answers: { 200: deletedKeySchema },
      codes: ['key_not_found'],
    },
    async ({ param, actor }) => {
      const key = await deleteKey(deps, actor, { id: param('key_id') });
      return { id: key.id, object: 'api_key', deleted: true };
    },
  );
}
