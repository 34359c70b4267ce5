import {
  type Bet,
  type LateOperation,
  openMoneyDeliveries,
  sameLate,
  standingResult,
} from './bet.ts';
import type { Conclusion } from './conclude.ts';
import type { AfterAttempt } from './delivery.ts';
import { unreachable } from './unreachable.ts';

/** The second confirmation comes after this many times the first one's delay. */
export const SECOND_TIME_FACTOR = 10;
/** Confirmations of the standing operation after the last attempt of unknown outcome. */
export const CONFIRMATIONS = 2;

/** Whether a bet's standing result or rollback has to be confirmed now. */
export type ConfirmDecision =
  /** Not due yet, or another operation is in flight: decide again after this time. */
  | { readonly kind: 'wait'; readonly inMs: number }
  /** Nothing stands, or the late effect would change nothing. */
  | { readonly kind: 'skip' }
  /** The standing result is unknown, and no request can find it out: a person has to decide. */
  | { readonly kind: 'leaveToPerson' }
  | { readonly kind: 'send'; readonly operationId: string };

/**
 * The standing operation is sent again `confirmAfterMs` after the last attempt of unknown outcome, and once more after
 * ten times that. This holds for the bet, whatever was confirmed or superseded meanwhile (docs/money-safety.md).
 * @param nowMs PostgreSQL's clock
 */
export function decideConfirm(
  bet: Bet,
  options: {
    readonly nowMs: number;
    readonly confirmAfterMs: number;
    /** The wallet pays a repeated result twice. */
    readonly holdsRepeats?: boolean;
  },
): ConfirmDecision {
  const { nowMs, confirmAfterMs } = options;
  const { late } = bet;
  if (late === undefined) return { kind: 'skip' };
  const factor = late.confirmationsLeft >= CONFIRMATIONS ? 1 : SECOND_TIME_FACTOR;
  const dueInMs = late.atMs + confirmAfterMs * factor - nowMs;
  if (dueInMs > 0) return { kind: 'wait', inMs: dueInMs };
  const isBusy = bet.busy !== undefined || openMoneyDeliveries(bet).length > 0;
  if (isBusy || late.isConfirming) return { kind: 'wait', inMs: confirmAfterMs };
  const { standingOperationId } = bet;
  if (options.holdsRepeats === true && bet.rollback.kind === 'none') {
    return { kind: bet.settlement.kind === 'unknown' ? 'leaveToPerson' : 'skip' };
  }
  if (standingOperationId === undefined || changesNothing(bet, late.operation)) {
    return { kind: 'skip' };
  }
  return { kind: 'send', operationId: standingOperationId };
}

/** A bet's remaining confirmations after one more. */
export interface ConfirmationsLeft {
  readonly left: number;
  /** When the next one is due; undefined: there is none. */
  readonly dueInMs: number | undefined;
}

export function afterOneConfirmation({ late }: Pick<Bet, 'late'>): ConfirmationsLeft {
  const left = Math.max((late?.confirmationsLeft ?? 0) - 1, 0);
  return { left, dueInMs: left > 0 ? 0 : undefined };
}

/** A dead letter for a person counts as a confirmation. @returns undefined if the bet's result is not in doubt */
export function afterLeftToPerson(
  bet: Pick<Bet, 'late' | 'settlement'>,
): ConfirmationsLeft | undefined {
  return bet.settlement.kind === 'unknown' ? afterOneConfirmation(bet) : undefined;
}

/** The time in the service's answer for the standing operation; empty while that is unknown. */
export function standingTime({
  rollback,
  settlement,
}: Pick<Bet, 'rollback' | 'settlement'>): string {
  const standing = rollback.kind === 'none' ? settlement : rollback;
  return 'transactionTime' in standing ? standing.transactionTime : '';
}

/**
 * What may take effect late after the last confirmation: one of its own attempts, if there were several. That harms
 * only a later result, which would have to be corrected.
 * @param attempts of that confirmation
 */
export function lateAfterConfirming(
  { late, rollback, settlement }: Pick<Bet, 'late' | 'rollback' | 'settlement'>,
  attempts: number,
): LateOperation | undefined {
  if (attempts <= 1 || late?.confirmationsLeft !== 1 || rollback.kind !== 'none') return undefined;
  return standingResult(settlement);
}

/** For an attempt that does not change its bet. */
export const CHANGES_NOTHING: Conclusion = { outcome: 'not_sent', answer: undefined, change: {} };

/**
 * A confirmation does not change the result, which is recorded already; at most it adds a late effect.
 * @param attempts of this confirmation, the present one included
 */
export function concludeConfirmation(
  bet: Pick<Bet, 'late' | 'rollback' | 'settlement'>,
  attempts: number,
  after: AfterAttempt,
): Conclusion {
  const hasEnded = after.kind === 'delivered' || after.kind === 'refused';
  // A lost attempt may take effect late, even if no other attempt follows.
  const isLost = after.kind === 'refused' && after.isLost === true;
  const late = hasEnded ? lateAfterConfirming(bet, isLost ? attempts + 1 : attempts) : undefined;
  return late === undefined ? CHANGES_NOTHING : { ...CHANGES_NOTHING, change: { late } };
}

/** Whether the late effect would leave the wallet as it is, or in an unknown state. */
function changesNothing(bet: Bet, late: LateOperation): boolean {
  const { kind } = bet.rollback;
  switch (kind) {
    case 'confirmed':
      return false;
    case 'promised':
      return true;
    case 'none': {
      const standing = standingResult(bet.settlement);
      return standing === undefined || sameLate(late, standing);
    }
    default:
      return unreachable(kind);
  }
}
