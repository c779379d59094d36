import { Box, Button, Center } from '@mantine/core';
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import type { MouseEvent, ReactNode } from 'react';
import { api, type Call } from '../api/client.ts';
import { useSay } from '../text.tsx';
import { Empty, Loading, Problem } from './states.tsx';

export interface Column<Row> {
  readonly label: string;
  readonly cell: (row: Row) => ReactNode;
  /** Figures stand at the end of their column. */
  readonly end?: boolean;
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Where a press anywhere on the row leads; a link in one of its cells must lead there too, for the keyboard. */
  readonly open?: (row: Row) => void;
}

/** Rows of one kind. On a narrow screen each row is a card. */
export function Table<Row>({ label, columns, rows, keyOf, open }: TableProps<Row>) {
  return (
    <table className="rows" aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.label} scope="col" className={column.end ? 'end' : undefined}>
              {column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} {...(open === undefined ? {} : { 'data-link': true, onClick: opened(() => open(row)) })}>
            {columns.map((column) => (
              <td key={column.label} data-label={column.label} className={column.end ? 'end' : undefined}>
                <Box miw={0}>{column.cell(row)}</Box>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Unless the press was meant for something inside the row, or selected text. */
function opened(open: () => void) {
  return ({ target }: MouseEvent) => {
    const isOwn = target instanceof Element && target.closest('a, button, input, label') !== null;
    if (!isOwn && window.getSelection()?.isCollapsed !== false) open();
  };
}

/** A list of the API that pages by key. */
interface List<Row> {
  readonly data: readonly Row[];
  readonly has_more: boolean;
}

export type Pages<Row> = UseInfiniteQueryResult<InfiniteData<List<Row>>>;

interface PagesOptions<Row> {
  readonly query?: Call['query'];
  readonly limit?: number;
  readonly refetchInterval?: number;
  /** The interval holds while one of the rows is so; without it, always. */
  readonly refetchWhile?: (row: Row) => boolean;
}

export function usePages<Row>(
  path: string,
  cursorOf: (row: Row) => string,
  options: PagesOptions<Row> = {},
): Pages<Row> {
  const { query = {}, limit = 50, refetchInterval, refetchWhile = () => true } = options;
  return useInfiniteQuery({
    queryKey: [path, query, limit],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => api<List<Row>>(path, { query: { ...query, limit, after: pageParam }, signal }),
    getNextPageParam: ({ data, has_more }) => {
      const last = data.at(-1);
      return has_more && last !== undefined ? cursorOf(last) : undefined;
    },
    refetchInterval: ({ state: { data } }) =>
      refetchInterval !== undefined && data?.pages.some((page) => page.data.some(refetchWhile))
        ? refetchInterval
        : false,
  });
}

export function rowsOf<Row>(pages: Pages<Row>): readonly Row[] {
  return pages.data?.pages.flatMap((page) => page.data) ?? [];
}

interface PagedProps<Row> {
  readonly pages: Pages<Row>;
  /** What is shown when there is no row at all. */
  readonly empty: ReactNode;
  readonly emptyAction?: ReactNode;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

/** Loading, error, nothing, or the rows and a button for more. */
export function Paged<Row>({ pages, empty, emptyAction, children }: PagedProps<Row>) {
  const say = useSay();
  if (pages.data === undefined) {
    return pages.error === null ? <Loading /> : <Problem error={pages.error} retry={() => void pages.refetch()} />;
  }
  const rows = rowsOf(pages);
  if (rows.length === 0) return <Empty action={emptyAction}>{empty}</Empty>;
  return (
    <>
      {children(rows)}
      {pages.hasNextPage && (
        <Center p="md">
          <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            {say('state.more')}
          </Button>
        </Center>
      )}
    </>
  );
}
