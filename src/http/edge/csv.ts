import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { type CsvColumns, csvHead, csvRows } from '../../csv.ts';

/**
 * Streams a file of rows, one page in memory at a time. The first page is read before the answer begins, so that what keeps
 * it from being read is an error like any other; a later failure cuts the connection.
 */
export async function sendCsv<Row>(
  reply: FastifyReply,
  fileName: string,
  columns: CsvColumns<Row>,
  pages: AsyncIterator<readonly Row[]>,
): Promise<FastifyReply> {
  const first = await pages.next();
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${fileName}"`)
    .header('cache-control', 'private, no-store')
    .send(Readable.from(csvPieces(columns, first, pages), { objectMode: false }));
}

async function* csvPieces<Row>(
  columns: CsvColumns<Row>,
  first: IteratorResult<readonly Row[]>,
  pages: AsyncIterator<readonly Row[]>,
): AsyncGenerator<string> {
  yield csvHead(columns);
  for (let page = first; page.done !== true; page = await pages.next()) yield csvRows(columns, page.value);
}
