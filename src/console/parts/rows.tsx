import { type ColumnDef, type RowData, tableFeatures, useTable } from '@tanstack/react-table';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';

const FEATURES = tableFeatures({});

/** `meta.width` is a CSS grid track. */
export type RowColumn<Row extends RowData> = ColumnDef<typeof FEATURES, Row> & {
  readonly meta: {
    readonly width: string;
    readonly isNumber?: boolean;
    /** On a phone, or at a zoom as narrow: left out, or below the others with its name. */
    readonly phone?: false | 'below';
  };
};

/** A column whose cell depends only on its row. */
export function column<Row extends RowData>(
  header: string,
  meta: RowColumn<Row>['meta'],
  cell: (row: Row) => ReactNode,
): RowColumn<Row> {
  return { id: header, header, meta, cell: ({ row }) => cell(row.original) };
}

export interface RowsProps<Row extends RowData> {
  /** The table's name, for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly RowColumn<Row>[];
  readonly idOf: (row: Row) => string;
  readonly rowPx?: number;
}

/**
 * A table of any length: only the visible rows are in the page, and the page itself scrolls; on paper all rows are.
 */
export function Rows<Row extends RowData>(props: RowsProps<Row>) {
  const { label, rows, columns, idOf, rowPx = 44 } = props;
  const table = useTable({
    features: FEATURES,
    columns: columns as RowColumn<Row>[],
    data: rows as Row[],
    getRowId: idOf,
  });
  const models = table.getRowModel().rows;
  const { list, height, measure, places } = usePlaces(models, rowPx);
  return (
    <div role="table" aria-label={label} aria-rowcount={rows.length + 1} className="rows">
      <div role="row" aria-rowindex={1} className="row head" style={tracksOf(columns)}>
        {table.getFlatHeaders().map((header, at) => (
          <div role="columnheader" key={header.id} className={cellClass(columns[at])}>
            <table.FlexRender header={header} />
          </div>
        ))}
      </div>
      <div ref={list} role="rowgroup" className="row-space" style={{ height }}>
        {places.map(({ index, transform }) => {
          const row = models[index];
          if (row === undefined) return null;
          return (
            <div
              role="row"
              key={row.id}
              aria-rowindex={index + 2}
              data-index={index}
              ref={measure}
              className="row"
              style={{ transform, ...tracksOf(columns) }}
            >
              {row.getAllCells().map((cell, column) => (
                <div
                  role="cell"
                  key={cell.id}
                  className={cellClass(columns[column])}
                  data-name={nameOf(columns[column])}
                >
                  <table.FlexRender cell={cell} />
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The rows that are in the page and their positions; on paper all of them, one below the other. */
function usePlaces(rows: readonly { readonly id: string }[], rowPx: number) {
  const [list, offsetPx] = useTopPx();
  const isPrinting = useIsPrinting();
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowPx,
    overscan: 8,
    scrollMargin: offsetPx,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  if (isPrinting) {
    const places = rows.map((_, index) => ({ index, transform: 'none' }));
    return { list, height: 'auto', measure: undefined, places };
  }
  const places = virtual
    .getVirtualItems()
    .map(({ index, start }) => ({ index, transform: `translateY(${start - offsetPx}px)` }));
  return { list, height: virtual.getTotalSize(), measure: virtual.measureElement, places };
}

/** The list's distance from the top of the page, in pixels; what is above it comes and goes. */
function useTopPx() {
  const list = useRef<HTMLDivElement>(null);
  const [topPx, setTopPx] = useState(0);
  useLayoutEffect(() => {
    const top = list.current?.getBoundingClientRect().top ?? 0;
    setTopPx(Math.round(top + window.scrollY));
  });
  return [list, topPx] as const;
}

/** The browser prints the page as it is when this event ends. */
function useIsPrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    window.addEventListener('beforeprint', begin);
    window.addEventListener('afterprint', end);
    return () => {
      window.removeEventListener('beforeprint', begin);
      window.removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}

function tracksOf<Row extends RowData>(columns: readonly RowColumn<Row>[]) {
  const tracks = (some: readonly RowColumn<Row>[]) => some.map(({ meta }) => meta.width).join(' ');
  return {
    '--tracks': tracks(columns),
    '--phone-tracks': tracks(columns.filter(({ meta }) => meta.phone === undefined)),
  } as React.CSSProperties;
}

function nameOf<Row extends RowData>(column: RowColumn<Row> | undefined): string | undefined {
  return typeof column?.header === 'string' ? column.header : undefined;
}

function cellClass<Row extends RowData>(column: RowColumn<Row> | undefined): string {
  const { isNumber = false, phone } = column?.meta ?? {};
  const onPhones = phone === undefined ? [] : [phone === 'below' ? 'below' : 'not-phone'];
  return ['cell', ...(isNumber ? ['number'] : []), ...onPhones].join(' ');
}
