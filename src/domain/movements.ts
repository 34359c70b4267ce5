import { addAmounts, canonicalAmount, compareAmounts, subtractAmounts } from './amount.ts';
import { unreachable } from './unreachable.ts';

/** What a wallet's confirmation did to a player's money. */
export const MOVEMENT_KINDS = ['stake', 'payout', 'payout_reversal', 'stake_return'] as const;

export type MovementKind = (typeof MOVEMENT_KINDS)[number];

/** An operation that a wallet has confirmed and that became its bet's standing one. Updates move no money. */
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
  /** 1: the bet waits for its result from here on; -1: it no longer does. */
  readonly opens: -1 | 0 | 1;
  /** The change of the stakes of open bets; 0 for a freebet, which is nobody's stake. */
  readonly openStake: string;
}

/** The sum of one bet's movements. */
export interface BookedBet {
  readonly movements: number;
  /** Not negative; undefined while no place was confirmed. */
  readonly stake: string | undefined;
  readonly isFreebet: boolean;
  /** The result that the player holds, not negative. */
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
 * The movements of one more confirmed operation: most have one, some none. The first settle books even 0, because it
 * ends the bet's wait; for a bet without a confirmed place, only results are booked.
 * @throws RangeError for an amount that is no number, or has more than 400 places
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

/** The sum of a bet's movements after one more. */
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
      // A rollback with two movements: the bet is rolled back with the second.
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
  // A result may come first, for a bet that was not placed through this gateway.
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
