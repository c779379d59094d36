import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ApiError } from '../../errors.ts';
import { FolderStore, type OpenedFile, type OpenedLink } from '../../storage/index.ts';
import type { HttpDeps } from '../deps.ts';
import { rangeOf } from '../edge/byte-range.ts';
import { matchesEtag } from '../edge/rendered.ts';
import type { Routes } from '../edge/route.ts';

export function linkRoutes(routes: Routes, { objects, clock }: HttpDeps): void {
  // A bucket serves its links itself.
  if (!(objects instanceof FolderStore)) return;
  routes.add(
    {
      method: 'GET',
      path: '/media/{object*}',
      summary: 'A stored object, by a signed link',
      access: 'public',
      head: true,
      anyOrigin: true,
      answers: { 200: z.file(), 206: z.file(), 304: null, 416: null },
      otherMedia: ['image/*', 'video/*', 'audio/*', 'application/octet-stream'],
      codes: ['invalid_link', 'not_found', 'job_service_unavailable'],
    },
    async ({ request, reply }) => {
      const link = objects.openLink(request.raw.url ?? '', clock.now());
      if (link === undefined) throw new ApiError('invalid_link');
      const file = await objects.open(link.key);
      if (file === undefined)
        throw new ApiError('not_found', { message: 'What this link names is not kept any more.' });
      const { status, headers, range } = answerTo(request, file);
      reply.code(status).headers({ etag: file.etag, 'accept-ranges': 'bytes', ...headers });
      if (status < 400) reply.headers(headersOf(link));
      if (range !== undefined) return reply.send(file.stream(range));
      await file.close();
      return reply.send();
    },
  );
}

interface FileAnswer {
  readonly status: number;
  readonly headers?: Record<string, string | number>;
  /** Absent when there is no body. */
  readonly range?: { readonly start: number; readonly end: number };
}

/** The condition first, then the range. */
function answerTo({ method, headers }: FastifyRequest, { etag, bytes }: OpenedFile): FileAnswer {
  const whole = { start: 0, end: bytes - 1 };
  if (matchesEtag(headers['if-none-match'], etag)) return { status: 304 };
  if (method === 'HEAD') return { status: 200, headers: { 'content-length': bytes } };
  // A date never is the same: no answer tells one.
  const isAsked = headers['if-range'] === undefined || headers['if-range'] === etag;
  const range = isAsked ? rangeOf(headers.range, bytes) : 'whole';
  if (range === 'unsatisfiable') return { status: 416, headers: { 'content-range': `bytes */${bytes}` } };
  if (range === 'whole') return { status: 200, headers: { 'content-length': bytes }, range: whole };
  return {
    status: 206,
    headers: {
      'content-length': range.end - range.start + 1,
      'content-range': `bytes ${range.start}-${range.end}/${bytes}`,
    },
    range,
  };
}

/** What is stored may be anything: a browser shows it, and runs nothing of it. */
function headersOf({ mimeType, disposition, secondsLeft }: OpenedLink): Record<string, string> {
  return {
    'content-type': mimeType,
    'content-disposition': disposition,
    'cache-control': `private, max-age=${Math.floor(secondsLeft)}`,
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'access-control-expose-headers': 'accept-ranges, content-range, etag',
  };
}
