import { nextDay } from '../domain/calendar.ts';
import {
  type BookedBet,
  type ConfirmedOperation,
  movementsOf,
  NOTHING_BOOKED,
  withMovement,
} from '../domain/movements.ts';
import { unreachable } from '../domain/unreachable.ts';
import { Slices } from '../lib/slices.ts';
import { JsonError, parseJsonObject } from '../protocol/json.ts';
import type { BookedMovement } from '../store/books/book-statement.ts';
import type { BookedRow } from '../store/books/books-journal.ts';
import { isBefore, type Position } from '../store/books/position.ts';
import type { Closing, ConfirmedEntry, JournalEntry } from '../store/books/read-statements.ts';
import type { Violation } from '../store/books/violations.ts';

export interface Batch {
  readonly movements: readonly BookedMovement[];
  /** Confirmed amounts that cannot be added up. */
  readonly unbookable: readonly Violation[];
}

/**
 * The movements of some journal entries: the same entries on the same books make the same rows.
 * @param booked the movements already booked for these bets, in order
 * @param closings the closed days of the entries' operators
 */
export async function batchOf(
  entries: readonly JournalEntry[],
  booked: readonly BookedRow[],
  closings: readonly Closing[],
): Promise<Batch> {
  const bets = new Map<string, InBooks>();
  for (const row of booked) {
    const { bet, currency = row.currency } = betIn(bets, row.transactionId);
    bets.set(row.transactionId, { bet: withMovement(bet, row), currency });
  }
  const days = closedDays(closings);
  const movements: BookedMovement[] = [];
  const unbookable: Violation[] = [];
  const slices = new Slices();
  for (const { at, confirmed } of entries) {
    if (slices.isOver()) await slices.next();
    if (confirmed === undefined) continue;
    try {
      movements.push(...bookEntry(bets, days, at, confirmed));
    } catch (error) {
      // A poison message must not stop the books of all operators; a person has to examine it.
      if (!(error instanceof RangeError || error instanceof JsonError)) throw error;
      unbookable.push(unbookableOf(confirmed, error));
    }
  }
  return { movements, unbookable };
}

interface InBooks {
  readonly bet: BookedBet;
  /** Of its first movement. */
  readonly currency?: string;
}

function bookEntry(
  bets: Map<string, InBooks>,
  days: ClosedDays,
  at: Position,
  entry: ConfirmedEntry,
): BookedMovement[] {
  const { transactionId, operatorId, playerId, confirmedAt, belongsTo } = entry;
  const before = betIn(bets, transactionId);
  const day = openDay(days, operatorId, belongsTo, at);
  // What takes a result back names no other currency than the result, whatever its message says.
  const currency = entry.currency ?? before.currency ?? currencyOf(entry.body);
  let { bet } = before;
  const made = movementsOf(bet, confirmedOperation(entry)).map((movement) => {
    bet = withMovement(bet, movement);
    const { movements: sequence } = bet;
    const whose = { transactionId, sequence, operatorId, playerId, currency };
    return { ...movement, ...whose, at, confirmedAt, belongsTo, day };
  });
  if (made.length > 0) bets.set(transactionId, { bet, currency: before.currency ?? currency });
  return made;
}

function confirmedOperation(entry: ConfirmedEntry): ConfirmedOperation {
  const { operation, body } = entry;
  switch (operation) {
    case 'place':
      return { operation, amount: entry.amount ?? amountOf(body), isFreebet: isFreebet(body) };
    case 'settle':
      return { operation, amount: amountOf(body) };
    case 'unsettle':
    case 'rollback':
      return { operation };
    default:
      return unreachable(operation);
  }
}

/** How the service marks nearly every bet: it is not a freebet. */
const NO_BONUS = /"bonusId"\s*:\s*null/;

/** Parsing takes longer than booking, so a message is parsed only if it may name a bonusId. */
function isFreebet(body: Buffer): boolean {
  const rest = body.toString('latin1').replace(NO_BONUS, '');
  if (!rest.includes('bonusId') && !rest.includes('\\')) return false;
  return (parseJsonObject(body).value.bonusId ?? null) !== null;
}

/** @throws RangeError if the message has no amount, although the journal only accepts it with one */
function amountOf(body: Buffer): string {
  const amount = parseJsonObject(body).numberText('amount');
  if (amount === undefined) throw new RangeError('the message holds no amount');
  return amount;
}

function currencyOf(body: Buffer): string {
  const { currency } = parseJsonObject(body).value;
  return typeof currency === 'string' ? currency : '';
}

function unbookableOf(
  { transactionId, operatorId, operation, amount }: ConfirmedEntry,
  why: Error,
) {
  const found = `${operation} ${amount ?? ''}: ${why.message}`.slice(0, 500);
  const expected = 'an amount that can be added up';
  return { rule: 'amount', subject: transactionId, operatorId, found, expected } as const;
}

/** The closed days of each operator, latest first. */
type ClosedDays = ReadonlyMap<string, readonly Closing[]>;

function closedDays(closings: readonly Closing[]): ClosedDays {
  const latestFirst = [...closings].sort((a, b) => (a.day < b.day ? 1 : -1));
  return Map.groupBy(latestFirst, ({ operatorId }) => operatorId);
}

/**
 * The first day from `belongsTo` on that was open when the books reached this position, so that a rebuild finds
 * the same. Days are closed in order: everything up to the latest closed day is closed.
 */
function openDay(days: ClosedDays, operatorId: string, belongsTo: string, at: Position): string {
  const closed = days.get(operatorId)?.find((closing) => isBefore(closing.at, at));
  return closed === undefined || closed.day < belongsTo ? belongsTo : nextDay(closed.day);
}

function betIn(bets: ReadonlyMap<string, InBooks>, transactionId: string): InBooks {
  return bets.get(transactionId) ?? { bet: NOTHING_BOOKED };
}
