import { type ColumnDef, type RowData, tableFeatures, useTable } from '@tanstack/react-table';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';

const FEATURES = tableFeatures({});

/** `meta.width` is a CSS grid track; `meta.phone` false leaves the column out on a phone. */
export type RowColumn<Row extends RowData> = ColumnDef<typeof FEATURES, Row> & {
  readonly meta: { readonly width: string; readonly isNumber?: boolean; readonly phone?: boolean };
};

/** A column whose cell is made from its row alone. */
export function column<Row extends RowData>(
  header: string,
  meta: RowColumn<Row>['meta'],
  cell: (row: Row) => ReactNode,
): RowColumn<Row> {
  return { id: header, header, meta, cell: ({ row }) => cell(row.original) };
}

interface RowsProps<Row extends RowData> {
  /** Of the table, for who cannot see it. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly RowColumn<Row>[];
  readonly idOf: (row: Row) => string;
  readonly rowPx?: number;
}

/** A table of any length: only the rows in sight are in the page, which itself scrolls. */
export function Rows<Row extends RowData>(props: RowsProps<Row>) {
  const { label, rows, columns, idOf, rowPx = 44 } = props;
  const [list, offsetPx] = useTopPx();
  const table = useTable({
    features: FEATURES,
    columns: columns as RowColumn<Row>[],
    data: rows as Row[],
    getRowId: idOf,
  });
  const models = table.getRowModel().rows;
  const virtual = useWindowVirtualizer({
    count: models.length,
    estimateSize: () => rowPx,
    overscan: 8,
    scrollMargin: offsetPx,
    getItemKey: (index) => models[index]?.id ?? index,
  });
  return (
    <div role="table" aria-label={label} aria-rowcount={rows.length + 1} className="rows">
      <div role="row" aria-rowindex={1} className="row head" style={tracksOf(columns)}>
        {table.getFlatHeaders().map((header, at) => (
          <div role="columnheader" key={header.id} className={cellClass(columns[at])}>
            <table.FlexRender header={header} />
          </div>
        ))}
      </div>
      <div ref={list} role="rowgroup" className="row-space" style={heightOf(virtual)}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = models[index];
          if (row === undefined) return null;
          const place = { transform: `translateY(${start - offsetPx}px)`, ...tracksOf(columns) };
          return (
            <div
              role="row"
              key={row.id}
              aria-rowindex={index + 2}
              data-index={index}
              ref={virtual.measureElement}
              className="row"
              style={place}
            >
              {row.getAllCells().map((cell, column) => (
                <div role="cell" key={cell.id} className={cellClass(columns[column])}>
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

/** Where a list begins on the page, in pixels. */
function useTopPx() {
  const list = useRef<HTMLDivElement>(null);
  const [topPx, setTopPx] = useState(0);
  useLayoutEffect(() => {
    const top = list.current?.getBoundingClientRect().top ?? 0;
    setTopPx(top + window.scrollY);
  }, []);
  return [list, topPx] as const;
}

function heightOf(virtual: { getTotalSize(): number }) {
  return { height: virtual.getTotalSize() };
}

function tracksOf<Row extends RowData>(columns: readonly RowColumn<Row>[]) {
  const tracks = (some: readonly RowColumn<Row>[]) => some.map(({ meta }) => meta.width).join(' ');
  return {
    '--tracks': tracks(columns),
    '--phone-tracks': tracks(columns.filter(({ meta }) => meta.phone !== false)),
  } as React.CSSProperties;
}

function cellClass<Row extends RowData>(column: RowColumn<Row> | undefined): string {
  const { isNumber = false, phone = true } = column?.meta ?? {};
  return ['cell', isNumber ? 'number' : '', phone ? '' : 'not-phone'].join(' ').trim();
}
