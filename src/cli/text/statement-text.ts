import { table } from '../../lib/table.ts';
import type { DayStatement } from '../../store/books/statements.ts';

const COLUMNS = [
  { title: 'currency', align: 'left' },
  { title: 'bets', align: 'right' },
  { title: 'stakes', align: 'right' },
  { title: 'returned', align: 'right' },
  { title: 'payouts', align: 'right' },
  { title: 'reversed', align: 'right' },
  { title: 'net', align: 'right' },
  { title: 'freebets', align: 'right' },
  { title: 'open bets', align: 'right' },
  { title: 'open stakes', align: 'right' },
  { title: 'unresolved', align: 'right' },
] as const;

/** How many open bets are shown; the rest is in the JSON. */
const OPEN_SHOWN = 20;

/** A closed day for people: its operator, its bounds, a line for each currency, what was open. */
export function statementText(statement: DayStatement): string {
  const { operator, day, timeZone, closedAt, movements, sha256, totals, open, openCount } =
    statement;
  const lines = totals.map((sums) => [
    sums.currency,
    String(sums.bets),
    sums.stakes,
    sums.stakeReturns,
    sums.payouts,
    sums.payoutReversals,
    sums.net,
    sums.freebetStakes,
    String(sums.openBets),
    sums.openStakes,
    String(sums.unresolved),
  ]);
  const shown = open
    .slice(0, OPEN_SHOWN)
    .map(({ transactionId, operation, why, since }) => [since, operation, transactionId, why]);
  const openTitles = ['since', 'operation', 'transactionId', 'why'] as const;
  return [
    `${operator}, ${day} (${timeZone}), closed ${closedAt}: ${movements} movements`,
    `sha256 of its CSV: ${sha256}`,
    '',
    lines.length === 0 ? 'nothing moved and nothing was open' : table(COLUMNS, lines),
    ...(openCount === 0
      ? []
      : [
          '',
          `open when it was closed: ${openCount}`,
          table(
            openTitles.map((title) => ({ title, align: 'left' as const })),
            shown,
          ),
        ]),
  ].join('\n');
}
