import { type AttemptedResult, type Bet, sameResult, standingResult } from './bet.ts';
import type { DeliveryPurpose } from './delivery.ts';
import { GENERATION_UNKNOWN, isOfOtherWallet } from './generation.ts';
import type { DeliverableOperation } from './operation.ts';
import { unreachable } from './unreachable.ts';

/*
 * What to do with a delivery that is due, given its bet and the few facts below. Pure; the queue writes what was
 * decided (store/deliveries/queue.ts).
 */

/** A due delivery, as far as these rules look at it. */
export interface DueDelivery {
  readonly operation: DeliverableOperation;
  readonly purpose: DeliveryPurpose;
  readonly operationId: string;
  /** So far. */
  readonly attempts: number;
  /** It was a dead letter that a person decided to send again. */
  readonly isSentOnceMore: boolean;
  /** The promised result; undefined for a rollback or an update. */
  readonly result: AttemptedResult | undefined;
  /** A later update of the bet is on record, and it is no copy. */
  readonly hasLaterUpdate: boolean;
  /** A person has resolved a dead letter of a result between the standing operation and this one. */
  readonly followsResolved: boolean;
}

/** The wallet that is configured for the operator. */
export interface ClaimingWallet {
  /** `wallet.generation`. */
  readonly generation: number;
  /** It is sent no data updates (`updates: skip`). */
  readonly skipsUpdates: boolean;
}

export type ClaimDecision =
  | { readonly kind: 'send' }
  /** In another wallet's books: looked at again after `forMs`. */
  | { readonly kind: 'hold'; readonly forMs: number }
  /** Obsolete: never sent. */
  | { readonly kind: 'supersede' };

/** Only a release lets these go, and it makes them due. A hundred thousand of them must not be read at every look. */
const OLDER_WALLET_MS = 600_000;
/** Another process may have that wallet's configuration already, and this one soon. */
const NEWER_WALLET_MS = 60_000;

/** Whether a due delivery is sent, held for another wallet, or ended because it is obsolete. */
export function decideClaim(
  bet: Bet,
  due: DueDelivery,
  { generation, skipsUpdates }: ClaimingWallet,
): ClaimDecision {
  if (isOfOtherWallet(generation, bet)) {
    const isOlder = bet.generation !== GENERATION_UNKNOWN && bet.generation < generation;
    return { kind: 'hold', forMs: isOlder ? OLDER_WALLET_MS : NEWER_WALLET_MS };
  }
  const isUnwanted = skipsUpdates && due.operation === 'update';
  return { kind: isUnwanted || isOvertaken(bet, due) ? 'supersede' : 'send' };
}

/** Whether what has happened to the bet since the delivery was promised has made it obsolete. */
function isOvertaken(bet: Bet, due: DueDelivery): boolean {
  // A person has retried or resolved a dead letter of the bet meanwhile.
  if (due.purpose === 'confirm') return bet.standingOperationId !== due.operationId;
  switch (due.operation) {
    case 'rollback':
      return false;
    case 'update':
      return bet.rollback.kind !== 'none' || due.hasLaterUpdate;
    case 'settle':
    case 'unsettle':
      return standsAlready(bet, due);
    default:
      return unreachable(due.operation);
  }
}

/**
 * Whether the wallet holds a promised result already: what was promised before it was refused for good. A wallet that
 * keys on `requestId` would pay it twice (I5). A result that was attempted, or that a person has sent again, is sent, and
 * so is one after a dead letter that a person has resolved: the wallet may hold that one, put right by hand.
 */
function standsAlready(bet: Bet, due: DueDelivery): boolean {
  if (due.attempts > 0 || due.isSentOnceMore || due.followsResolved) return false;
  const standing = standingResult(bet.settlement);
  return (
    bet.rollback.kind === 'none' &&
    standing !== undefined &&
    due.result !== undefined &&
    sameResult(standing, due.result)
  );
}

/** At most one delivery of a bet is sent at a time, money before updates (I6): an update blocks nothing. */
export function oneOfEachBet<
  D extends { readonly transactionId: string; readonly operation: DeliverableOperation },
>(due: readonly D[]): readonly D[] {
  const chosen = new Map<string, D>();
  for (const one of due) {
    const before = chosen.get(one.transactionId);
    if (before === undefined || (before.operation === 'update' && one.operation !== 'update')) {
      chosen.set(one.transactionId, one);
    }
  }
  return [...chosen.values()];
}
