import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { ApiError } from '../../errors.ts';
import { discardFile, keepFile, receiveFile } from '../../files/index.ts';
import { FILE_BYTES_MAX, FORM_FIELD_BYTES_MAX, FORM_PARTS_MAX } from '../../limits.ts';
import { parseWith } from '../../parse.ts';
import { callContext } from '../call.ts';
import { nameField } from '../fields.ts';
import { filesOf, readForm, valuesOf } from '../form.ts';
import type { HttpParts } from '../parts.ts';
import type { Routes } from '../route.ts';

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

const purposeField = z.object({ purpose: nameField.optional() });

/** The file itself and what stands around it. */
const FORM_BYTES_MAX = FILE_BYTES_MAX + FORM_PARTS_MAX * FORM_FIELD_BYTES_MAX;

export function fileRoutes(routes: Routes, parts: HttpParts): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/files',
      summary: 'Keep a picture, clip or sound for a day, to be named in later requests',
      access: 'caller',
      scope: 'user:files',
      body: { kind: 'form', formBytesMax: FORM_BYTES_MAX, tooLarge: 'file_too_large' },
      answers: { 200: fileSchema },
      codes: [
        'invalid_parameter',
        'missing_file',
        'empty_file',
        'unexpected_file',
        'unsupported_file_format',
        'file_quota_exceeded',
        'job_service_unavailable',
        'database_unavailable',
      ],
    },
    async ({ request, reply, caller }) => {
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
            const file = await receiveFile(parts, accountId, fileName, body, signal);
            received.push(file.objectKey);
            return file;
          },
        });
        const [file] = filesOf(form);
        if (file === undefined) throw new ApiError('missing_file', { param: 'file' });
        const given = valuesOf(form).find(([name]) => name === 'purpose')?.[1];
        const { purpose } = parseWith(purposeField, given === '' ? {} : { purpose: given });
        const kept = await keepFile(parts, accountId, file.file, purpose);
        reply.header('cache-control', 'private, no-store');
        return {
          id: kept.id,
          object: 'file',
          bytes: kept.bytes,
          filename: kept.fileName,
          mime_type: kept.mimeType,
          purpose: kept.purpose ?? null,
          url: kept.url,
          created_at: unixSeconds(kept.createdAt),
          expires_at: unixSeconds(kept.expiresAt),
        };
      } catch (error) {
        for (const objectKey of received) await discardFile(parts, objectKey);
        throw error;
      }
    },
  );
}
