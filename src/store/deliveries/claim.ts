import { randomUUID } from 'node:crypto';
import type { Bet, Busy } from '../../domain/bet.ts';
import { type ClaimingWallet, decideClaim, oneOfEachBet } from '../../domain/claim.ts';
import { GENERATION_UNKNOWN } from '../../domain/generation.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { LEASE_MS } from '../bets/lease.ts';
import type { Columns } from '../sql/statement.ts';
import {
  type Decided,
  type Seen,
  seenOf,
  type TakenDelivery,
  type Written,
} from './claim-statements.ts';

/** A due delivery that this release cannot read or judge: nothing is sent, and it is looked at later. */
export interface UnreadableDelivery {
  readonly id: string;
  readonly transactionId: string;
  readonly error: unknown;
}

export interface Claim {
  readonly taken: readonly TakenDelivery[];
  /** Default: none. */
  readonly unreadable?: readonly UnreadableDelivery[];
  /** Nothing could be claimed, held or ended. Otherwise another look may find more. */
  readonly isDry: boolean;
}

/** What is to be written to a due delivery, and what comes of it if it is. */
export interface Planned {
  readonly decided: Decided;
  readonly seen?: Seen;
  readonly unreadable?: UnreadableDelivery;
}

/** Decides about due deliveries; `rows` are in the order in which they are due. */
export function planClaim(rows: readonly Columns[], wallet: ClaimingWallet): readonly Planned[] {
  const all = rows.map((row) => plan(row, wallet));
  const sent = new Set(oneOfEachBet(all.flatMap(({ seen }) => seen ?? [])));
  return all.filter(({ seen }) => seen === undefined || sent.has(seen));
}

function plan(row: Columns, wallet: ClaimingWallet): Planned {
  const at = {
    id: row.text('id'),
    transactionId: row.text('transaction_id'),
    version: row.int('version'),
  };
  const waiting = { ...at, state: 'pending', isHeld: false, waitMs: LEASE_MS } as const;
  try {
    const seen = seenOf(row);
    const decision = decideClaim(seen.bet, seen, wallet);
    switch (decision.kind) {
      case 'send':
        return { decided: { ...waiting, busy: attemptOf(seen) }, seen };
      case 'hold':
        return { decided: { ...waiting, isHeld: true, waitMs: decision.forMs } };
      case 'supersede':
        return { decided: { ...at, state: 'superseded', isHeld: false } };
      default:
        return unreachable(decision);
    }
  } catch (error) {
    // One unreadable row must not fail the claim of the others.
    return { decided: waiting, unreadable: { ...at, error } };
  }
}

function attemptOf({ purpose, operation }: Seen): Busy {
  const busyWith = purpose === 'confirm' ? 'confirm' : operation;
  return { operation: busyWith, attemptId: randomUUID(), lapsed: false };
}

/** @param written those whose bets had not moved */
export function claimOf(
  planned: readonly Planned[],
  written: readonly Written[],
  generation: number,
): Claim {
  const overdue = new Map(written.map(({ id, isOverdue }) => [id, isOverdue]));
  const done = planned.filter(({ decided }) => overdue.has(decided.id));
  return {
    taken: done.flatMap(({ decided: { busy }, seen }) => {
      if (seen === undefined || busy === undefined) return [];
      const isOverdue = overdue.get(seen.id) === true;
      const { attemptId } = busy;
      const bet = claimed(seen.bet, busy, generation);
      return { ...seen, attemptId, attempts: seen.attempts + 1, isOverdue, bet };
    }),
    unreadable: done.flatMap(({ unreadable }) => unreadable ?? []),
    isDry: written.length === 0,
  };
}

/** The bet as the claim has written it. */
function claimed(bet: Bet, busy: Busy, generation: number): Bet {
  const isKnown = bet.generation !== GENERATION_UNKNOWN;
  return {
    ...bet,
    busy,
    generation: isKnown ? bet.generation : generation,
    version: bet.version + 1,
  };
}
