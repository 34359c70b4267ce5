import { randomUUID } from 'node:crypto';
import type { Bet, Busy } from '../../domain/bet.ts';
import { type ClaimingWallet, decideClaim, oneOfEachBet } from '../../domain/claim.ts';
import { GENERATION_UNKNOWN } from '../../domain/generation.ts';
import type { Columns } from '../sql/statement.ts';
import {
  type ClaimedRow,
  type Decided,
  type SeenDelivery,
  seenOf,
  type TakenDelivery,
} from './claim-statements.ts';

/** A due delivery that this release cannot read or judge: nothing is sent, and it is due again later. */
export interface UnreadableDelivery {
  readonly id: string;
  readonly transactionId: string;
  readonly error?: unknown;
}

export interface Claim {
  readonly taken: readonly TakenDelivery[];
  /** Default: none. */
  readonly unreadable?: readonly UnreadableDelivery[];
  /** Nothing could be claimed, held or ended. Otherwise another claim may find more. */
  readonly isDry: boolean;
}

/** A due delivery with the decision about it. */
interface Planned extends Decided {
  /** Only if it is to be sent. */
  readonly seen?: SeenDelivery;
  readonly error?: unknown;
}

/** Decides about due deliveries; `rows` are in order of their due times. */
export function planClaim(rows: readonly Columns[], wallet: ClaimingWallet): readonly Planned[] {
  const all = rows.map((row) => plan(row, wallet));
  const sent = new Set(oneOfEachBet(all.flatMap(({ seen }) => seen ?? [])));
  return all.filter(({ seen }) => seen === undefined || sent.has(seen));
}

function plan(row: Columns, wallet: ClaimingWallet): Planned {
  const [id, transactionId] = [row.text('id'), row.text('transaction_id')];
  const at = { id, transactionId, version: row.int('version') };
  try {
    const seen = seenOf(row);
    const decision = decideClaim(seen.bet, seen, wallet);
    if (decision.kind !== 'send') return { ...at, decision };
    const attemptId = randomUUID();
    const operation = seen.purpose === 'confirm' ? seen.purpose : seen.operation;
    return { ...at, decision, busy: { operation, attemptId, lapsed: false }, seen };
  } catch (error) {
    // An unreadable row must not fail the claim of the others.
    return { ...at, decision: { kind: 'putOff' }, error };
  }
}

/** @param written deliveries whose bets had not changed */
export function claimOf(
  planned: readonly Planned[],
  written: readonly ClaimedRow[],
  generation: number,
): Claim {
  const overdue = new Map(written.map(({ id, isOverdue }) => [id, isOverdue]));
  const done = planned.filter(({ id }) => overdue.has(id));
  return {
    taken: done.flatMap(({ id, busy, seen }) => {
      if (seen === undefined || busy === undefined) return [];
      const isOverdue = overdue.get(id) === true;
      const { attemptId } = busy;
      const bet = claimed(seen.bet, busy, generation);
      return { ...seen, attemptId, attempts: seen.attempts + 1, isOverdue, bet };
    }),
    unreadable: done.filter(({ decision }) => decision.kind === 'putOff'),
    isDry: written.length === 0,
  };
}

/** The bet as the claim has written it. */
function claimed(bet: Bet, busy: Busy, configured: number): Bet {
  const generation = bet.generation === GENERATION_UNKNOWN ? configured : bet.generation;
  return { ...bet, busy, generation, version: bet.version + 1 };
}
