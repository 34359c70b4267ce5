/** How a column stands: text to the left, amounts to the right. */
export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
}

/** Plain text in aligned columns, ruled below the titles; no line ends in a space. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    columns
      .map(({ align }, at) => {
        const cell = cells[at] ?? '';
        const width = widths[at] ?? 0;
        return align === 'left' ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  const titles = line(columns.map(({ title }) => title));
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [titles, rule, ...rows.map(line)].join('\n');
}
