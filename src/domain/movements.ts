import { addAmounts, canonicalAmount, compareAmounts, subtractAmounts } from './amount.ts';
import { unreachable } from './unreachable.ts';

/** What a wallet's confirmation did to a player's money. */
export const MOVEMENT_KINDS = ['stake', 'payout', 'payout_reversal', 'stake_return'] as const;

export type MovementKind = (typeof MOVEMENT_KINDS)[number];

/** An operation that a wallet has confirmed, and by which its bet stands. Updates move nothing. */
export type ConfirmedOperation =
  | { readonly operation: 'place'; readonly amount: string; readonly isFreebet: boolean }
  | { readonly operation: 'settle'; readonly amount: string }
  | { readonly operation: 'unsettle' }
  | { readonly operation: 'rollback' };

export interface Movement {
  readonly kind: MovementKind;
  /** From the player's side, canonical text: a stake is negative, a payout positive. */
  readonly amount: string;
  readonly operation: ConfirmedOperation['operation'];
  readonly isFreebet: boolean;
  /** 1: from here on the bet waits for its result; -1: it no longer does. */
  readonly opens: -1 | 0 | 1;
  /** What `opens` adds to the stakes of open bets; 0 for a freebet, which is nobody's stake. */
  readonly openStake: string;
}

/** What the movements of one bet have come to. */
export interface BookedBet {
  /** How many movements it has. */
  readonly movements: number;
  /** What was taken, not negative; undefined while no place was confirmed. */
  readonly stake: string | undefined;
  readonly isFreebet: boolean;
  /** What the player holds of it as a result, not negative. */
  readonly payout: string;
  readonly isSettled: boolean;
  readonly isRolledBack: boolean;
}

export const NOTHING_BOOKED: BookedBet = {
  movements: 0,
  stake: undefined,
  isFreebet: false,
  payout: '0',
  isSettled: false,
  isRolledBack: false,
};

/**
 * The movements that one more confirmed operation of a bet makes; most make one, some none.
 *
 * A settle makes one of the difference to what was paid before; the first settle makes one even of
 * 0, because it ends the bet's wait. An unsettle takes back what was paid; a rollback does the same
 * and returns the stake. For a bet whose place no wallet has confirmed, only results are booked.
 * What is confirmed again moves nothing.
 *
 * @throws RangeError for an amount that is no number, or of more than 400 places
 */
export function movementsOf(booked: BookedBet, confirmed: ConfirmedOperation): Movement[] {
  if (booked.isRolledBack) return [];
  switch (confirmed.operation) {
    case 'place':
      return booked.stake === undefined ? [stakeOf(booked, confirmed)] : [];
    case 'settle':
      return resultOf(booked, confirmed.amount);
    case 'unsettle':
      return booked.isSettled ? [reversal(booked, booked.payout, 'unsettle')] : [];
    case 'rollback':
      return rollbackOf(booked);
    default:
      return unreachable(confirmed);
  }
}

/** What the movements of a bet have come to after one more. */
export function withMovement(
  booked: BookedBet,
  movement: Pick<Movement, 'kind' | 'amount' | 'operation' | 'isFreebet'>,
): BookedBet {
  const movements = booked.movements + 1;
  const isRolledBack = booked.isRolledBack || movement.operation === 'rollback';
  switch (movement.kind) {
    case 'stake': {
      const stake = negated(movement.amount);
      return { ...booked, movements, stake, isFreebet: movement.isFreebet };
    }
    case 'payout':
    case 'payout_reversal': {
      const payout = addAmounts(booked.payout, movement.amount);
      const isSettled = movement.operation === 'settle';
      // Of a rollback with both, the bet is rolled back once the second is there.
      return { ...booked, movements, payout, isSettled, isRolledBack };
    }
    case 'stake_return':
      return { ...booked, movements, isSettled: false, isRolledBack };
    default:
      return unreachable(movement.kind);
  }
}

function stakeOf(
  booked: BookedBet,
  { amount, isFreebet }: Extract<ConfirmedOperation, { operation: 'place' }>,
): Movement {
  const placed = { ...booked, stake: canonicalAmount(amount), isFreebet };
  // A result may have come first, of a bet that was not placed through here.
  return movement(placed, 'stake', negated(amount), 'place', booked.isSettled ? 0 : 1);
}

function resultOf(booked: BookedBet, amount: string): Movement[] {
  const difference = subtractAmounts(amount, booked.payout);
  const direction = compareAmounts(difference, '0');
  if (!booked.isSettled) return [movement(booked, 'payout', difference, 'settle', -1)];
  if (direction === 0) return [];
  const kind = direction > 0 ? 'payout' : 'payout_reversal';
  return [movement(booked, kind, difference, 'settle', 0)];
}

function rollbackOf(booked: BookedBet): Movement[] {
  const isPaid = compareAmounts(booked.payout, '0') !== 0;
  const reversed = isPaid
    ? [movement(booked, 'payout_reversal', negated(booked.payout), 'rollback', 0)]
    : [];
  if (booked.stake === undefined) return reversed;
  const opens = booked.isSettled ? 0 : -1;
  return [...reversed, movement(booked, 'stake_return', booked.stake, 'rollback', opens)];
}

function reversal(booked: BookedBet, payout: string, operation: 'unsettle'): Movement {
  return movement(booked, 'payout_reversal', negated(payout), operation, 1);
}

function movement(
  { stake, isFreebet }: BookedBet,
  kind: MovementKind,
  amount: string,
  operation: Movement['operation'],
  opens: Movement['opens'],
): Movement {
  // A bet without a booked stake is not counted as open.
  const counted = stake === undefined ? 0 : opens;
  const openStake = stake === undefined || isFreebet ? '0' : times(stake, counted);
  return { kind, amount: canonicalAmount(amount), operation, isFreebet, opens: counted, openStake };
}

function times(amount: string, sign: -1 | 0 | 1): string {
  if (sign === 0) return '0';
  return sign < 0 ? negated(amount) : canonicalAmount(amount);
}

function negated(amount: string): string {
  return subtractAmounts('0', amount);
}
