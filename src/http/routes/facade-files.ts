import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { deleteFile, getFile, type LinkedFile, listFiles } from '../../files/index.ts';
import { PAGE_SIZE_MAX } from '../../limits.ts';
import { FACADE } from '../contract/facade.ts';
import { pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { page, type Routes } from '../edge/route.ts';
import { deletedFileSchema, FILE_BODY, FILE_CODES, takeFile } from './files.ts';

const PATH = `${FACADE}/files`;
const PRIVATE = { 'cache-control': 'private, no-store' };

const fileSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('file'),
    bytes: z.int(),
    created_at: z.int(),
    expires_at: z.int(),
    filename: z.string(),
    purpose: z.string(),
    status: z.literal('processed'),
    mime_type: z.string(),
    url: z.string().describe('Works until the file expires, without a credential.'),
  })
  .meta({ id: 'FacadeFile' });

const listSchema = z.strictObject({
  object: z.literal('list'),
  data: z.array(fileSchema),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

/** Client libraries ask for many more at once than a page has. */
const listQuery = pageQuery.extend({
  limit: z
    .string()
    .regex(/^[1-9]\d{0,4}$/, { error: 'expected a whole number from 1 to 99999' })
    .transform((limit) => Math.min(Number(limit), PAGE_SIZE_MAX))
    .default(PAGE_SIZE_MAX),
});

/**
 * Files as client libraries list and read them. An app's token may upload and nothing else: the people who allowed it that
 * were not asked whether it may read what the account keeps.
 */
export function facadeFileRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: PATH,
      summary: 'Keep a file for a day, to be named in later requests',
      access: 'caller',
      scope: 'user:files',
      logged: 'files',
      body: FILE_BODY,
      answers: { 200: fileSchema },
      codes: FILE_CODES,
    },
    async (call) => facadeFileView(await takeFile(deps, call)),
  );
  routes.add(
    {
      method: 'GET',
      path: PATH,
      summary: 'The files that the account keeps, newest first',
      access: 'caller',
      scope: 'none',
      query: listQuery,
      answers: { 200: listSchema },
      codes: ['job_service_unavailable', 'database_unavailable'],
    },
    async ({ accountId, query: { limit, after }, reply }) => {
      reply.headers(PRIVATE);
      const list = await page(limit, (most) => listFiles(deps, accountId, { limit: most, after }), facadeFileView);
      return { ...list, first_id: list.data[0]?.id ?? null, last_id: list.data.at(-1)?.id ?? null };
    },
  );
  fileObjectRoutes(routes, deps);
}

function fileObjectRoutes(routes: Routes, deps: HttpDeps): void {
  const path = `${PATH}/{file_id}`;
  const door = { access: 'caller', scope: 'none' } as const;
  const codes = ['file_not_found', 'job_service_unavailable', 'database_unavailable'] as const;
  routes.add(
    { ...door, method: 'GET', path, summary: 'One file', answers: { 200: fileSchema }, codes },
    async ({ accountId, param, reply }) => {
      reply.headers(PRIVATE);
      return facadeFileView(await getFile(deps, accountId, param('file_id')));
    },
  );
  routes.add(
    { ...door, method: 'GET', path: `${path}/content`, summary: 'Leads to a file', answers: { 302: null }, codes },
    async ({ accountId, param, reply }) => {
      const { url } = await getFile(deps, accountId, param('file_id'));
      return reply.headers(PRIVATE).redirect(url, 302);
    },
  );
  routes.add(
    {
      ...door,
      method: 'DELETE',
      path,
      summary: 'Delete a file before its day; a job that was given it keeps it',
      answers: { 200: deletedFileSchema },
      codes,
    },
    async ({ caller, param, request }) => {
      const id = param('file_id');
      const actor = { name: caller.keyId ?? caller.accountId, requestId: request.id };
      await deleteFile(deps, actor, caller.accountId, id);
      return { id, object: 'file', deleted: true };
    },
  );
}

function facadeFileView(file: LinkedFile): z.infer<typeof fileSchema> {
  return {
    id: file.id,
    object: 'file',
    bytes: file.bytes,
    created_at: unixSeconds(file.createdAt),
    expires_at: unixSeconds(file.expiresAt),
    filename: file.fileName,
    purpose: file.purpose ?? 'user_data',
    status: 'processed',
    mime_type: file.mimeType,
    url: file.url,
  };
}
