import { sameAmount } from './amount.ts';
import type { BetOperation, DeliverableOperation } from './operation.ts';
import { unreachable } from './unreachable.ts';

/** The state of a bet's place. Only `unseen` and `inFlight` may still change (I3). */
export type PlaceState =
  /** Another operation of this bet came first, or its place was never seen. */
  | { readonly kind: 'unseen' }
  | { readonly kind: 'inFlight' }
  | { readonly kind: 'accepted'; readonly transactionTime: string }
  | { readonly kind: 'declined'; readonly code: number; readonly message: string }
  | { readonly kind: 'notSent' }
  | { readonly kind: 'unknown' };

export const RESULT_TYPES = ['won', 'lost', 'refund', 'cashout'] as const;

export type ResultType = (typeof RESULT_TYPES)[number];

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
  /** A settle or unsettle got no answer: nothing may be answered from the journal. */
  | { readonly kind: 'unknown'; readonly attempted: AttemptedResult };

/** The result of an attempt that a wallet may have accepted. */
export type AttemptedResult =
  | { readonly kind: 'settle'; readonly amount: string; readonly resultType: ResultType }
  | { readonly kind: 'unsettle' }
  /** More than one, or one that only a lost process knew. */
  | { readonly kind: 'several' };

/** Anything but `none` is the tombstone that fences later places of this bet (I6). */
export type Rollback =
  | { readonly kind: 'none' }
  /** Committed as a delivery; no wallet has confirmed it yet. */
  | { readonly kind: 'promised'; readonly transactionTime: string }
  | {
      readonly kind: 'confirmed';
      readonly transactionTime: string;
      /** Set if the wallet confirmed it with code 8; copies get the same answer. */
      readonly refusal?: { readonly code: number; readonly message: string };
    };

/** The operation in flight to the wallet. */
export interface Busy {
  /** `confirm`: the standing operation is sent again, which does not change the bet. */
  readonly operation: BetOperation | 'confirm';
  readonly attemptId: string;
  /** Its lease has ended by PostgreSQL's clock: its process is dead or stalled, and may not continue it. */
  readonly lapsed: boolean;
}

/** An operation without an answer that may still take effect at the wallet. */
export type LateOperation = AttemptedResult | { readonly kind: 'place' };

/**
 * An attempt of unknown outcome may take effect long after it was given up. The standing operation is therefore
 * confirmed two more times (docs/money-safety.md, rule 3).
 */
export interface LateEffect {
  readonly operation: LateOperation;
  /** End of the last such attempt, in milliseconds since the epoch on PostgreSQL's clock. */
  readonly atMs: number;
  /** At least 1. */
  readonly confirmationsLeft: number;
  /** Whether one of them already is a delivery. */
  readonly isConfirming: boolean;
}

/** A promised delivery that no wallet has confirmed yet. */
export interface OpenDelivery {
  readonly id: string;
  readonly operationId: string;
  readonly operation: DeliverableOperation;
  readonly attempts: number;
  /** Only for a promised settle. */
  readonly settle?: { readonly amount: string; readonly resultType: ResultType };
  readonly transactionTime: string;
}

/** The owner of a bet. Only the tombstone of a bet with an unknown player has none. */
export interface BetOwner {
  readonly operatorId: string;
  readonly playerId: string;
  /** The aggregator's id of the player, as the service sends it. */
  readonly userId: string;
  /** The operator's id of the player. */
  readonly operatorUser: string;
}

/** One bet as the journal holds it. */
export interface Bet {
  readonly transactionId: string;
  readonly owner: BetOwner | undefined;
  /** Undefined while no place was seen. */
  readonly sessionId: string | undefined;
  /** The place's exact text; undefined while no place was seen. */
  readonly amount: string | undefined;
  readonly currency: string | undefined;
  /** The bet's `wallet.generation`; 0: not known yet, because its operator had no file. */
  readonly generation: number;
  /** The operator's bets up to this generation were released to another wallet; 0: none were. */
  readonly released: number;
  /** `wallet.generation` of the wallet that they were released to; 0: not recorded. */
  readonly releasedTo: number;
  readonly place: PlaceState;
  readonly settlement: Settlement;
  readonly rollback: Rollback;
  /** The last update that a wallet confirmed or that was promised. */
  readonly update: { readonly key: string; readonly transactionTime: string } | undefined;
  readonly busy: Busy | undefined;
  /** Promises only, oldest first. */
  readonly deliveries: readonly OpenDelivery[];
  readonly late: LateEffect | undefined;
  /** The standing operation: the last one whose effect a wallet has confirmed. */
  readonly standingOperationId: string | undefined;
  /** The service was answered 100 before the wallet's answer was committed: it does not know the place (I3). */
  readonly placeAnsweredUnknown: boolean;
  /** Grows with every change that a decision could depend on; 0: not in the journal yet. */
  readonly version: number;
}

/** Whether the wallet certainly holds no such bet: it was declined or never sent. */
export function neverHeld(bet: Bet): boolean {
  return bet.place.kind === 'declined' || bet.place.kind === 'notSent';
}

/** Whether the service was answered 100 for a place that the wallet may hold: it has to be rolled back. */
export function isPlaceUnknown(bet: Bet): boolean {
  const { kind } = bet.place;
  return kind === 'unknown' || (kind === 'accepted' && bet.placeAnsweredUnknown);
}

/** Whether certainly no wallet holds a result. Without its place (pruned, or a restored journal), that is unknown. */
export function holdsNoResult(bet: Bet): boolean {
  const { kind } = bet.settlement;
  const neverHadOne = kind === 'none' && bet.place.kind !== 'unseen';
  return (neverHadOne || kind === 'unsettled') && bet.late === undefined;
}

/** Deliveries that must reach the wallet in order: all but updates, which block nothing (I6). */
export function openMoneyDeliveries(bet: Bet): readonly OpenDelivery[] {
  return bet.deliveries.filter((delivery) => delivery.operation !== 'update');
}

/** The bet's result after one more operation got no answer. */
export function unknownAfter(before: Settlement, attempted: AttemptedResult): Settlement {
  const alone = before.kind !== 'unknown' || sameResult(before.attempted, attempted);
  return { kind: 'unknown', attempted: alone ? attempted : { kind: 'several' } };
}

/** The late effect after `attempted` got no answer either. */
export function lateAfter(before: LateEffect | undefined, attempted: LateOperation): LateOperation {
  if (before === undefined || sameLate(before.operation, attempted)) return attempted;
  return { kind: 'several' };
}

/** Whether two operations would leave the wallet in the same state. */
export function sameLate(one: LateOperation, other: LateOperation): boolean {
  if (one.kind === 'place' || other.kind === 'place') return one.kind === other.kind;
  return sameResult(one, other);
}

/** The result that a wallet is known to hold, as an operation; undefined if there is none. */
export function standingResult(settlement: Settlement): AttemptedResult | undefined {
  switch (settlement.kind) {
    case 'settled': {
      const { amount, resultType } = settlement;
      return { kind: 'settle', amount, resultType };
    }
    case 'unsettled':
      return { kind: 'unsettle' };
    case 'none':
    case 'unknown':
      return undefined;
    default:
      return unreachable(settlement);
  }
}

/** Whether two results would leave the wallet in the same state. */
export function sameResult(one: AttemptedResult, other: AttemptedResult): boolean {
  if (one.kind === 'settle' && other.kind === 'settle') {
    return one.resultType === other.resultType && sameAmount(one.amount, other.amount);
  }
  return one.kind === other.kind && one.kind !== 'several';
}

/**
 * The tombstone of a bet with an unknown player, with its owner once that player is known. The first rollback never
 * reached a wallet, so its repeat is sent: nothing else can return the stake.
 * @param firstUserId the player in the first rollback; undefined: none
 * @returns undefined if the repeat names another player: with a wrong owner, no right rollback would be possible
 */
export function tombstoneOf(
  tombstone: Bet,
  player: Pick<Bet, 'released' | 'releasedTo' | 'generation'> & { readonly owner: BetOwner },
  firstUserId: string | undefined,
): Bet | undefined {
  if (firstUserId !== undefined && firstUserId !== player.owner.userId) return undefined;
  return { ...tombstone, ...player, rollback: { kind: 'none' } };
}
