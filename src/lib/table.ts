import { plain } from './plain-text.ts';

/** How a column stands: text to the left, amounts to the right. */
export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
}

/**
 * Plain text in aligned columns, ruled below the titles; no line ends in a space. Cells may come from
 * outside: what in them could move the cursor or turn the order of a line is replaced.
 */
export function table(columns: readonly Column[], cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(plain));
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    columns
      .map(({ align }, at) => {
        const cell = row[at] ?? '';
        const width = widths[at] ?? 0;
        return align === 'left' ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  const titles = line(columns.map(({ title }) => title));
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [titles, rule, ...rows.map(line)].join('\n');
}
