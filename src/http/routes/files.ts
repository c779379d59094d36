import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { ApiError, type ErrorCode } from '../../errors.ts';
import { deleteFile, discardFile, keepFile, type LinkedFile, listFiles, receiveFile } from '../../files/index.ts';
import { FILE_BYTES_MAX, FORM_FIELD_BYTES_MAX, FORM_PARTS_MAX } from '../../limits.ts';
import { parseWith } from '../../parse.ts';
import { nameField, pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { filesOf, readForm, valuesOf } from '../edge/form.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { callContext } from './call.ts';
import type { CreateCall } from './create-call.ts';

const fileSchema = z
  .strictObject({
    id: z.string().regex(/^file_/),
    object: z.literal('file'),
    bytes: z.int(),
    filename: z.string(),
    mime_type: z.string(),
    purpose: z.string().nullable(),
    url: z.string().describe('Works for 24 hours, without a credential, and wherever a URL of media is taken.'),
    created_at: z.int(),
    expires_at: z.int(),
  })
  .meta({ id: 'File' });

export const deletedFileSchema = z.strictObject({
  id: z.string(),
  object: z.literal('file'),
  deleted: z.literal(true),
});

const purposeField = z.object({ purpose: nameField.optional() });

/** The file itself and what stands around it. */
const FORM_BYTES_MAX = FILE_BYTES_MAX + FORM_PARTS_MAX * FORM_FIELD_BYTES_MAX;

export const FILE_BODY = { kind: 'form', formBytesMax: FORM_BYTES_MAX, tooLarge: 'file_too_large' } as const;

export const FILE_CODES = [
  'invalid_parameter',
  'missing_file',
  'empty_file',
  'unexpected_file',
  'unsupported_file_format',
  'file_quota_exceeded',
  'job_service_unavailable',
  'database_unavailable',
] as const satisfies readonly ErrorCode[];

export function fileRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/files',
      summary: 'Keep a picture, clip or sound for a day, to be named in later requests',
      access: 'caller',
      scope: 'user:files',
      console: 'run',
      logged: 'files',
      body: FILE_BODY,
      answers: { 200: fileSchema },
      codes: FILE_CODES,
    },
    async (call) => fileView(await takeFile(deps, call)),
  );
  routes.add(
    {
      method: 'GET',
      path: '/api/console/files',
      summary: 'The files that the account keeps, newest first',
      access: 'session',
      role: 'viewer',
      query: pageQuery,
      answers: { 200: listOf(fileSchema) },
      codes: ['job_service_unavailable'],
    },
    ({ accountId, query: { limit, after } }) =>
      page(limit, (most) => listFiles(deps, accountId, { limit: most, after }), fileView),
  );

  routes.add(
    {
      method: 'DELETE',
      path: '/api/console/files/{file_id}',
      summary: 'Delete a file before its day; a job that was given it keeps it',
      access: 'session',
      role: 'member',
      answers: { 200: deletedFileSchema },
      codes: ['file_not_found'],
    },
    async ({ accountId, actor, param }) => {
      await deleteFile(deps, actor, accountId, param('file_id'));
      return { id: param('file_id'), object: 'file', deleted: true };
    },
  );
}

/** Reads the form of an upload and keeps its file. If that fails, what was stored goes again. */
export async function takeFile(deps: HttpDeps, { request, reply, caller }: CreateCall): Promise<LinkedFile> {
  const { signal } = callContext(request, reply);
  const { accountId } = caller;
  const received: string[] = [];
  let files = 0;
  try {
    const form = await readForm(request, {
      bytesMax: FORM_BYTES_MAX,
      tooLarge: 'file_too_large',
      take: async (name, fileName, body) => {
        if (name !== 'file' || ++files > 1) throw new ApiError('unexpected_file');
        const file = await receiveFile(deps, accountId, fileName, body, signal);
        received.push(file.objectKey);
        return file;
      },
    });
    const [file] = filesOf(form);
    if (file === undefined) throw new ApiError('missing_file', { param: 'file' });
    const value = valuesOf(form).find(([name]) => name === 'purpose')?.[1];
    const { purpose } = parseWith(purposeField, value === '' ? {} : { purpose: value });
    reply.header('cache-control', 'private, no-store');
    return await keepFile(deps, accountId, file.file, purpose);
  } catch (error) {
    for (const objectKey of received) await discardFile(deps, objectKey);
    throw error;
  }
}

function fileView(file: LinkedFile): z.infer<typeof fileSchema> {
  return {
    id: file.id,
    object: 'file',
    bytes: file.bytes,
    filename: file.fileName,
    mime_type: file.mimeType,
    purpose: file.purpose ?? null,
    url: file.url,
    created_at: unixSeconds(file.createdAt),
    expires_at: unixSeconds(file.expiresAt),
  };
}
