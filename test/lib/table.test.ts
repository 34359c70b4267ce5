import { expect, it } from 'vitest';
import { table } from '../../src/lib/table.ts';

const COLUMNS = [
  { title: 'id', align: 'left' },
  { title: 'amount', align: 'right' },
] as const;

it('is aligned in columns, and no line ends in a space', () => {
  expect(table(COLUMNS, [['alpha', '1.50'], ['b']])).toBe(
    ['id     amount', '-----  ------', 'alpha    1.50', 'b'].join('\n'),
  );
});

it('keeps cells from moving the cursor, breaking a line or turning its order', () => {
  const [, , line] = table(COLUMNS, [['a\u{9b}2J\u{1b}[0m\nb', '\u{202e}00.1\u{2066}']]).split(
    '\n',
  );
  expect(line).toBe('a\u{fffd}2J\u{fffd}[0m b  \u{fffd}00.1\u{fffd}');
});
