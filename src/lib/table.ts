import { plain } from './plain-text.ts';

/** How a column stands: text to the left, amounts to the right. */
export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
}

/** Columns by their titles, to the left but for those of `numbers`. */
export function columns(
  titles: readonly string[],
  numbers: readonly string[] = [],
): readonly Column[] {
  return titles.map((title) => ({ title, align: numbers.includes(title) ? 'right' : 'left' }));
}

/** Aligned columns, ruled below the titles. Unsafe characters in cells are replaced. */
export function table(shown: readonly Column[], cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(plain));
  const widths = shown.map(({ title }, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    shown
      .map(({ align }, at) => {
        const cell = row[at] ?? '';
        const width = widths[at] ?? 0;
        return align === 'left' ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  const titles = line(shown.map(({ title }) => title));
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [titles, rule, ...rows.map(line)].join('\n');
}
