import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { addAmounts, sameAmount, subtractAmounts } from '../../src/domain/amount.ts';
import { type Column, table } from '../../src/lib/table.ts';
import { BooksDays } from '../../src/store/books/days.ts';
import { Database } from '../../src/store/database.ts';
import { netOf } from '../simulator/wallet/ledger.ts';
import type { SimulatedWallet } from '../simulator/wallet/wallet.ts';

/** The books follow the last answer within some hundred milliseconds, or seconds on a busy machine. */
const KEPT_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 100;

const COLUMNS: readonly Column[] = [
  { title: 'operator', align: 'left' },
  { title: 'currency', align: 'left' },
  { title: 'bets', align: 'right' },
  { title: 'stakes', align: 'right' },
  { title: 'returned', align: 'right' },
  { title: 'payouts', align: 'right' },
  { title: 'reversed', align: 'right' },
  { title: 'freebets', align: 'right' },
  { title: 'players moved', align: 'right' },
  { title: 'its wallet says', align: 'right' },
  { title: '', align: 'left' },
];

export interface DayEnd {
  /** A line for each operator and currency, next to what its wallet has moved. */
  readonly table: string;
  /** Every disagreement, in words; empty if the statements equal the wallets' own books. */
  readonly differences: readonly string[];
}

/** Compares each operator's statement of this day, still open, with its wallet's own books. */
export async function dayEnd(
  databaseUrl: string,
  wallets: Readonly<Record<string, SimulatedWallet>>,
): Promise<DayEnd> {
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const end = await compared(databaseUrl, wallets);
    // The bookkeeper follows the journal; a real disagreement is still there at the end.
    if (end.differences.length === 0 || waitedMs >= KEPT_WITHIN_MS) return end;
    await sleep(LOOK_EVERY_MS);
  }
}

async function compared(
  databaseUrl: string,
  wallets: Readonly<Record<string, SimulatedWallet>>,
): Promise<DayEnd> {
  const booked = await bookedNets(databaseUrl);
  const database = new Database({
    url: databaseUrl,
    connectionsMax: 1,
    onIdleError: () => undefined,
  });
  const page = await daysOf(database);
  const rows: string[][] = [];
  const differences: string[] = [];
  const held = heldNets(wallets);
  for (const key of new Set([...booked.keys(), ...held.keys()])) {
    const [operator = '', currency = ''] = key.split(' ');
    const [moved, says] = [booked.get(key) ?? '0', held.get(key) ?? '0'];
    const days = (page?.items ?? []).filter(
      (day) => day.operator === operator && day.currency === currency,
    );
    const sum = (of: (day: (typeof days)[number]) => string) =>
      days.reduce((total, day) => addAmounts(total, of(day)), '0');
    const agrees = sameAmount(moved, says);
    if (!agrees) {
      differences.push(`${operator}'s statement says ${moved} ${currency}, its wallet ${says}`);
    }
    rows.push([
      operator,
      currency,
      String(days.reduce((total, { bets }) => total + bets, 0)),
      sum(({ stakes }) => stakes),
      sum(({ stakeReturns }) => stakeReturns),
      sum(({ payouts }) => payouts),
      sum(({ payoutReversals }) => payoutReversals),
      sum(({ freebetStakes }) => freebetStakes),
      moved,
      says,
      agrees ? 'agree' : 'DIFFER',
    ]);
  }
  return { table: table(COLUMNS, rows.sort()), differences };
}

/** The net amount that the movements have credited to players, by operator and currency. */
async function bookedNets(databaseUrl: string): Promise<Map<string, string>> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ key: string; sum: string }>(
      `SELECT operator_id || ' ' || currency AS key, sum(amount)::text AS sum
         FROM books_movements GROUP BY 1`,
    );
    return new Map(rows.map(({ key, sum }) => [key, subtractAmounts(sum, '0')]));
  } finally {
    await client.end();
  }
}

function heldNets(wallets: Readonly<Record<string, SimulatedWallet>>): Map<string, string> {
  const nets = new Map<string, string>();
  for (const [operator, wallet] of Object.entries(wallets)) {
    for (const bet of wallet.bets.values()) {
      // A rollback of an unknown bet moves nothing and names no currency.
      if (bet.status === 'tombstone') continue;
      const key = `${operator} ${bet.currency}`;
      nets.set(key, addAmounts(nets.get(key) ?? '0', netOf(bet)));
    }
  }
  return nets;
}

async function daysOf(database: Database) {
  try {
    return await new BooksDays(database).list({});
  } finally {
    await database.close();
  }
}
