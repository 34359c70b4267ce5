import { sameAmount } from './amount.ts';
import type { BetOperation, DeliverableOperation } from './operation.ts';

/** How far the place of a bet has come. Only `unseen` and `inFlight` may still change (I3). */
export type PlaceState =
  /** Another operation of this bet came first, or none of its places was ever seen. */
  | { readonly kind: 'unseen' }
  | { readonly kind: 'inFlight' }
  | { readonly kind: 'accepted'; readonly transactionTime: string }
  | { readonly kind: 'declined'; readonly code: number; readonly message: string }
  | { readonly kind: 'notSent' }
  | { readonly kind: 'unknown' };

export type ResultType = 'won' | 'lost' | 'refund' | 'cashout';

/** What the wallet is known to hold as this bet's result. */
export type Settlement =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'settled';
      readonly amount: string;
      readonly resultType: ResultType;
      readonly transactionTime: string;
    }
  | { readonly kind: 'unsettled'; readonly transactionTime: string }
  /** A settle or unsettle left without an answer: nothing may be answered from memory. */
  | { readonly kind: 'unknown'; readonly attempted: AttemptedResult };

/** What a wallet may or may not have taken. */
export type AttemptedResult =
  | { readonly kind: 'settle'; readonly amount: string; readonly resultType: ResultType }
  | { readonly kind: 'unsettle' }
  /** More than one, or one of which only its process knew. */
  | { readonly kind: 'several' };

/** Anything but `none` is the tombstone that fences later places of this bet (I6). */
export type Rollback =
  | { readonly kind: 'none' }
  /** Committed as a delivery; no wallet has confirmed it yet. */
  | { readonly kind: 'promised'; readonly transactionTime: string }
  | {
      readonly kind: 'confirmed';
      readonly transactionTime: string;
      /** Set where the wallet confirmed by an error code (8), which the service is told again. */
      readonly refusal?: { readonly code: number; readonly message: string };
    };

/** The operation that is on its way to the wallet. */
export interface Busy {
  readonly operation: BetOperation;
  readonly attemptId: string;
  /** The process that owns the attempt is gone: its lease ended on PostgreSQL's clock. */
  readonly lapsed: boolean;
}

/** A delivery of this bet that is not home yet. */
export interface OpenDelivery {
  readonly id: string;
  readonly operation: DeliverableOperation;
  readonly attempts: number;
  /** The result a taken-over settle brings; absent for the other operations. */
  readonly settle?: { readonly amount: string; readonly resultType: ResultType };
  readonly transactionTime: string;
}

/** Who a bet belongs to. Absent only from the tombstone of a bet whose player is unknown here. */
export interface BetOwner {
  readonly operatorId: string;
  readonly playerId: string;
  /** The aggregator's id of the player, as the service knows it. */
  readonly userId: string;
  /** The operator's id of the player. */
  readonly operatorUser: string;
}

/** One bet as the journal holds it. */
export interface Bet {
  readonly transactionId: string;
  readonly owner: BetOwner | undefined;
  /** The session the bet was placed in, where its place was seen. */
  readonly sessionId: string | undefined;
  /** Of the place, exact text; undefined while no place was seen. */
  readonly amount: string | undefined;
  readonly currency: string | undefined;
  readonly generation: number;
  readonly place: PlaceState;
  readonly settlement: Settlement;
  readonly rollback: Rollback;
  /** The last update that a wallet confirmed or that was promised to one. */
  readonly update: { readonly key: string; readonly transactionTime: string } | undefined;
  readonly busy: Busy | undefined;
  /** Oldest first. */
  readonly deliveries: readonly OpenDelivery[];
  readonly version: number;
}

/** Whether the wallet certainly holds no such bet: it was declined or never sent. */
export function neverHeld(bet: Bet): boolean {
  return bet.place.kind === 'declined' || bet.place.kind === 'notSent';
}

/** Money operations wait in order for their wallet; updates never stand in their way (I6). */
export function openMoneyDeliveries(bet: Bet): readonly OpenDelivery[] {
  return bet.deliveries.filter((delivery) => delivery.operation !== 'update');
}

/** The bet's result after one more operation was left without an answer. */
export function unknownAfter(before: Settlement, attempted: AttemptedResult): Settlement {
  const alone = before.kind !== 'unknown' || sameResult(before.attempted, attempted);
  return { kind: 'unknown', attempted: alone ? attempted : { kind: 'several' } };
}

/**
 * Whether a confirmed result follows a different one of unknown outcome, which may land late and
 * would then stand last at the wallet.
 */
export function mayBeOvertaken(before: Settlement, confirmed: AttemptedResult): boolean {
  return before.kind === 'unknown' && !sameResult(before.attempted, confirmed);
}

/** Whether two results would leave the wallet with the same books. */
export function sameResult(one: AttemptedResult, other: AttemptedResult): boolean {
  if (one.kind === 'settle' && other.kind === 'settle') {
    return one.resultType === other.resultType && sameAmount(one.amount, other.amount);
  }
  return one.kind === other.kind && one.kind !== 'several';
}
