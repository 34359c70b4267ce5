import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { RowData } from '@tanstack/react-table';
import type { ReactNode } from 'react';
import { Answered } from './answered.tsx';
import { Rows, type RowsProps } from './rows.tsx';

interface PagedProps<Item> {
  readonly list: UseInfiniteQueryResult<InfiniteData<{ readonly items: readonly Item[] }>>;
  /** The name of what is listed, for the messages in its absence: `deliveries`. */
  readonly what: string;
  readonly children: (items: readonly Item[]) => ReactNode;
}

/** What the pages of a list that were loaded hold, and the button that loads the next one. */
export function Paged<Item>({ list, what, children }: PagedProps<Item>) {
  return (
    <>
      <Answered query={list} what={what}>
        {({ pages }) => children(pages.flatMap(({ items }) => items))}
      </Answered>
      {list.hasNextPage && (
        <p className="more">
          <button
            type="button"
            onClick={() => void list.fetchNextPage()}
            disabled={list.isFetchingNextPage}
          >
            {list.isFetchingNextPage ? 'Loading…' : 'Show more'}
          </button>
        </p>
      )}
    </>
  );
}

interface PagedRowsProps<Row extends RowData>
  extends Omit<PagedProps<Row>, 'children'>,
    Omit<RowsProps<Row>, 'rows'> {
  /** Shown while there are no rows. */
  readonly empty: ReactNode;
}

/** The same as a table. */
export function PagedRows<Row extends RowData>({
  list,
  what,
  empty,
  ...table
}: PagedRowsProps<Row>) {
  return (
    <Paged list={list} what={what}>
      {(rows) => (rows.length === 0 ? empty : <Rows rows={rows} {...table} />)}
    </Paged>
  );
}
