import { type AttemptedResult, type Bet, sameResult, standingResult } from './bet.ts';
import type { DeliveryPurpose } from './delivery.ts';
import { GENERATION_UNKNOWN, isOfOtherWallet } from './generation.ts';
import type { DeliverableOperation } from './operation.ts';
import { unreachable } from './unreachable.ts';

/* What to do with a due delivery, given its bet. Pure; store/deliveries/queue.ts writes the decision. */

export interface DueDelivery {
  readonly operation: DeliverableOperation;
  readonly purpose: DeliveryPurpose;
  readonly operationId: string;
  readonly attempts: number;
  /** A person has sent this dead letter again. */
  readonly isSentOnceMore: boolean;
  /** The promised result; undefined for a rollback or an update. */
  readonly result: AttemptedResult | undefined;
  /** A later update of the bet, no copy, is recorded. */
  readonly hasLaterUpdate: boolean;
  /** A person has resolved a dead letter of a result between the standing operation and this one. */
  readonly followsResolved: boolean;
}

/** The operator's configured wallet. */
export interface ClaimingWallet {
  /** `wallet.generation`. */
  readonly generation: number;
  /** It gets no data updates (`updates: skip`). */
  readonly skipsUpdates: boolean;
}

export type ClaimDecision =
  | { readonly kind: 'send' }
  /** In another wallet's books: due again after `forMs`. */
  | { readonly kind: 'hold'; readonly forMs: number }
  /** Obsolete: never sent. */
  | { readonly kind: 'supersede' };

/** Only a release frees these, and makes them due. A hundred thousand of them must not be read at every poll. */
const OLDER_WALLET_MS = 600_000;
/** Another process may have that wallet's configuration already; this one will have it soon. */
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

/** Whether the bet has changed since the promise in a way that makes the delivery obsolete. */
function isOvertaken(bet: Bet, due: DueDelivery): boolean {
  // A person has retried or resolved another dead letter of the bet.
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
 * Whether the wallet holds the promised result because an earlier promise was refused for good: keyed on `requestId`,
 * it would pay twice (I5). After an attempt, a person's retry or a resolved dead letter, it may hold another, so this
 * is sent.
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
