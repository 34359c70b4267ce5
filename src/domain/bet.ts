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

/** The result of an attempt that a wallet may or may not have accepted. */
export type AttemptedResult =
  | { readonly kind: 'settle'; readonly amount: string; readonly resultType: ResultType }
  | { readonly kind: 'unsettle' }
  /** More than one, or one that only a killed process knew. */
  | { readonly kind: 'several' };

/** Anything but `none` is the tombstone that fences later places of this bet (I6). */
export type Rollback =
  | { readonly kind: 'none' }
  /** Committed as a delivery; no wallet has confirmed it yet. */
  | { readonly kind: 'promised'; readonly transactionTime: string }
  | {
      readonly kind: 'confirmed';
      readonly transactionTime: string;
      /** Set if the wallet confirmed it with an error (code 8), which is also the answer to copies. */
      readonly refusal?: { readonly code: number; readonly message: string };
    };

/** The operation in flight to the wallet. */
export interface Busy {
  /** `confirm`: the standing operation is sent again, which does not change the bet. */
  readonly operation: BetOperation | 'confirm';
  readonly attemptId: string;
  /** Its lease has ended by PostgreSQL's clock: its process has died, or stands still and may not go on with it. */
  readonly lapsed: boolean;
}

/** An operation without an answer that may still take effect at the wallet: a result, or the place itself. */
export type LateOperation = AttemptedResult | { readonly kind: 'place' };

/**
 * An attempt of unknown outcome may take effect at the wallet long after it was given up. So the standing operation is
 * confirmed two more times, and until then the wallet may hold something else (docs/money-safety.md, rule 3).
 */
export interface LateEffect {
  readonly operation: LateOperation;
  /** When the last such attempt ended, milliseconds since the epoch on PostgreSQL's clock. */
  readonly atMs: number;
  /** How many confirmations of the standing operation remain; at least 1. */
  readonly confirmationsLeft: number;
  /** Whether one of them already is a delivery. */
  readonly isConfirming: boolean;
}

/** A promised delivery of this bet that no wallet has confirmed yet. */
export interface OpenDelivery {
  readonly id: string;
  readonly operationId: string;
  readonly operation: DeliverableOperation;
  readonly attempts: number;
  /** The result of a promised settle; absent for the other operations. */
  readonly settle?: { readonly amount: string; readonly resultType: ResultType };
  readonly transactionTime: string;
}

/** The owner of a bet. Absent only from the tombstone of a bet whose player is unknown. */
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
  /** The session of the place; undefined while no place was seen. */
  readonly sessionId: string | undefined;
  /** The place's amount, exact text; undefined while no place was seen. */
  readonly amount: string | undefined;
  readonly currency: string | undefined;
  /** The `wallet.generation` that the bet belongs to; 0: not known yet, because its operator had no file. */
  readonly generation: number;
  /** The operator's bets of generations up to this one were released to another wallet; 0: none were. */
  readonly released: number;
  /** The `wallet.generation` of the wallet that they were released to; 0: not on record. */
  readonly releasedTo: number;
  readonly place: PlaceState;
  readonly settlement: Settlement;
  readonly rollback: Rollback;
  /** The last update that a wallet confirmed or that was promised to one. */
  readonly update: { readonly key: string; readonly transactionTime: string } | undefined;
  readonly busy: Busy | undefined;
  /** Promises only, oldest first. */
  readonly deliveries: readonly OpenDelivery[];
  readonly late: LateEffect | undefined;
  /** The standing operation: the last one whose effect a wallet has confirmed. */
  readonly standingOperationId: string | undefined;
  /**
   * The wallet's answer to the place was committed only after its caller had been answered 100: for the service,
   * the place is unknown (I3).
   */
  readonly placeAnsweredUnknown: boolean;
  /** Grows with every change that a decision could depend on; 0: not in the journal yet. */
  readonly version: number;
}

/** Whether the wallet certainly holds no such bet: it was declined or never sent. */
export function neverHeld(bet: Bet): boolean {
  return bet.place.kind === 'declined' || bet.place.kind === 'notSent';
}

/**
 * Whether the service was answered 100 for a place that the wallet may hold: it has to be rolled
 * back.
 */
export function isPlaceUnknown(bet: Bet): boolean {
  const { kind } = bet.place;
  return kind === 'unknown' || (kind === 'accepted' && bet.placeAnsweredUnknown);
}

/**
 * Whether no wallet can hold a result of this bet: none was attempted, or it was certainly undone. If the place was
 * never seen (pruned, or lost with a restored journal), earlier results are unknown.
 */
export function holdsNoResult(bet: Bet): boolean {
  const { kind } = bet.settlement;
  const neverHadOne = kind === 'none' && bet.place.kind !== 'unseen';
  return (neverHadOne || kind === 'unsettled') && bet.late === undefined;
}

/** Deliveries that have to reach the wallet in order: all but updates, which block nothing (I6). */
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
 * The tombstone of a bet whose player was unknown here, with its owner, once that player is known (imported too late, or
 * lost and imported again). No wallet was told of the first rollback, so its repeat is sent: nothing else can return the
 * stake. Until it is promised, the tombstone stays.
 * @param firstUserId whom the first rollback named; undefined: nobody
 * @returns undefined if the repeat names another player: people send it by hand, and a bet with a wrong owner could never
 *   be rolled back for the right one
 */
export function tombstoneOf(
  tombstone: Bet,
  player: Pick<Bet, 'released' | 'releasedTo' | 'generation'> & { readonly owner: BetOwner },
  firstUserId: string | undefined,
): Bet | undefined {
  if (firstUserId !== undefined && firstUserId !== player.owner.userId) return undefined;
  return { ...tombstone, ...player, rollback: { kind: 'none' } };
}
