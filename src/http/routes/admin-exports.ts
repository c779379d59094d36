import { Readable } from 'node:stream';
import { z } from 'zod';
import { ApiError } from '../../errors.ts';
import { findExport, listExports } from '../../exports/index.ts';
import { pageQuery } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import { listOf, page, type Routes } from '../edge/route.ts';
import { exportSchema, exportView } from '../views/exports.ts';

/** The ledger as files, for an operator's own tools. */
export function exportAdminRoutes(routes: Routes, { db, objects }: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/api/admin/ledger/exports',
      summary: 'Days whose entries lie in the object store, newest first',
      access: 'operator',
      query: pageQuery.extend({
        after: z.iso.date().optional().describe('The last day of the page before.'),
      }),
      answers: { 200: listOf(exportSchema) },
    },
    ({ query: { limit, after } }) => page(limit, (most) => listExports(db, most, after), exportView),
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/admin/ledger/exports/{day}',
      summary: 'The entries of one day, as CSV in gzip',
      access: 'operator',
      answers: { 200: z.file() },
      otherMedia: ['application/gzip'],
      codes: ['not_found', 'job_service_unavailable'],
    },
    async ({ param, reply }) => {
      const day = param('day');
      const exported = z.iso.date().safeParse(day).success ? await findExport(db, day) : undefined;
      const file = exported && (await objects.read(exported.objectKey));
      if (file === undefined) throw new ApiError('not_found', { message: 'This day of the ledger is not exported.' });
      return reply
        .type('application/gzip')
        .headers({
          'content-length': file.bytes,
          'content-disposition': `attachment; filename="ledger-${day}.csv.gz"`,
          'cache-control': 'private, no-store',
        })
        .send(Readable.from(file.body, { objectMode: false }));
    },
  );
}
