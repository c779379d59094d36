import type { Range } from './book-checks.ts';

export const READ_ONLY_SNAPSHOT = 'set transaction isolation level repeatable read, read only';

const PAGE_ENTRIES = 50_000n;

/** Cut and put together to pieces that the database can read within its time for a statement. */
export function pagesOf(ranges: readonly Range[]): readonly (readonly Range[])[] {
  const pages: Range[][] = [[]];
  let room = PAGE_ENTRIES;
  for (const { accountId, after, upto } of ranges) {
    for (let from = after; from < upto; ) {
      if (room === 0n) {
        pages.push([]);
        room = PAGE_ENTRIES;
      }
      const to = upto - from < room ? upto : from + room;
      pages.at(-1)?.push({ accountId, after: from, upto: to });
      room -= to - from;
      from = to;
    }
  }
  return pages;
}
