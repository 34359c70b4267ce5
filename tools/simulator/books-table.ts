import { type Column, table } from '../../src/lib/table.ts';
import type { BooksComparison } from './books.ts';

const PLAYER_COLUMNS: readonly Column[] = [
  { title: 'wallet', align: 'left' },
  { title: 'player', align: 'left' },
  { title: 'currency', align: 'left' },
  { title: 'wallet holds', align: 'right' },
  { title: 'wallet moved', align: 'right' },
  { title: 'service believes', align: 'right' },
  { title: '', align: 'left' },
];

/** What each wallet holds and what the service believes, a line per player and currency. */
export function playersTable(comparison: BooksComparison): string {
  return table(
    PLAYER_COLUMNS,
    comparison.players.map((row) => [
      row.wallet ?? '-',
      row.user ?? row.userId ?? '-',
      row.currency,
      row.balance ?? '-',
      row.held,
      row.believed,
      verdict(row.agrees),
    ]),
  );
}

function verdict(agrees: boolean): string {
  return agrees ? 'agrees' : 'DIFFERS';
}
