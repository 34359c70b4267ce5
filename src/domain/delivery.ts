import { type AttemptedResult, type Settlement, sameResult } from './bet.ts';
import { CODES } from './codes.ts';
import { type DeliverableOperation, isResult } from './operation.ts';
import { unreachable } from './unreachable.ts';
import type { BetAnswer } from './wallet-answer.ts';

/**
 * The life of a delivery:
 * - `live`: guards an attempt inside its callback; workers leave it alone until that is over;
 * - `pending`: waits for its next attempt;
 * - `delivered`: a wallet has confirmed it; `refused`: a wallet has refused it for good;
 * - `superseded`: a later operation made it void, its wallet holds the result already, or takes no updates;
 * - `dead`: given up; a person has to decide. `resolved`: a person has decided.
 */
export const DELIVERY_LIFE = [
  'live',
  'pending',
  'delivered',
  'refused',
  'superseded',
  'dead',
  'resolved',
] as const;

/**
 * `promise`: the service was answered 200, so it has to be delivered. `confirm`: a confirmed operation is sent again,
 * because a lost one may have taken effect after it; later operations overtake it.
 */
export const DELIVERY_PURPOSES = ['promise', 'confirm'] as const;

export type DeliveryPurpose = (typeof DELIVERY_PURPOSES)[number];

/** The state of a delivery after an attempt. */
export type AfterAttempt =
  | { readonly kind: 'delivered' }
  | {
      readonly kind: 'refused';
      /** A confirmation at the end of its horizon, whose last attempt has an unknown outcome. */
      readonly isLost?: true;
    }
  | { readonly kind: 'dead' }
  /** Tried without success: this attempt counts. */
  | { readonly kind: 'pending'; readonly retryInMs: number }
  /** Not sent, so no attempt counts. */
  | { readonly kind: 'unsent'; readonly retryInMs: number };

export interface Attempted {
  readonly operation: DeliverableOperation;
  readonly purpose: DeliveryPurpose;
  /** Its horizon is over: this attempt was the last one. */
  readonly isOverdue: boolean;
  /** How long to wait before the next attempt, should one be needed. */
  readonly retryInMs: number;
  /** The wallet pays a repeated result twice: only a person may send it again. */
  readonly holdsRepeats?: boolean;
}

/** The state of a delivery after an attempt, decided by its wallet's answer. */
export function afterAttempt(attempted: Attempted, sent: BetAnswer): AfterAttempt {
  const verdict = verdictOf(attempted, sent);
  switch (verdict) {
    case 'confirmed':
      return { kind: 'delivered' };
    case 'refused':
      return attempted.purpose === 'promise' && isResult(attempted.operation)
        ? // The service was answered 200 for a result that the wallet will never take.
          { kind: 'dead' }
        : { kind: 'refused' };
    case 'unsent':
      return { kind: 'unsent', retryInMs: 0 };
    case 'unconfirmed':
      if (attempted.holdsRepeats === true && isResult(attempted.operation) && mayHaveTaken(sent)) {
        return attempted.purpose === 'promise' ? { kind: 'dead' } : { kind: 'refused' };
      }
      if (!attempted.isOverdue) return { kind: 'pending', retryInMs: attempted.retryInMs };
      if (attempted.purpose === 'promise') return { kind: 'dead' };
      // A wallet has confirmed this operation before, so no money is missing.
      return mayHaveTaken(sent) ? { kind: 'refused', isLost: true } : { kind: 'refused' };
    default:
      return unreachable(verdict);
  }
}

/** What a wallet's answer means for a delivery. `refused`: for good. */
function verdictOf(
  { operation, purpose }: Attempted,
  sent: BetAnswer,
): 'confirmed' | 'refused' | 'unconfirmed' | 'unsent' {
  switch (sent.kind) {
    case 'accepted':
      return 'confirmed';
    case 'declined':
      if (operation === 'rollback' && sent.code === CODES.alreadyProcessed) return 'confirmed';
      // A promised rollback is repeated until a wallet confirms it, whatever else the wallet answers.
      if (operation === 'rollback' && purpose === 'promise') return 'unconfirmed';
      return isRetryableCode(operation, sent.code) ? 'unconfirmed' : 'refused';
    case 'notSent':
      // Held, or out of time: nothing was tried.
      return sent.reason === 'connection' ? 'unconfirmed' : 'unsent';
    case 'unknown':
      return 'unconfirmed';
    default:
      return unreachable(sent);
  }
}

/** Whether to send it again: our fault (a signature), or the wallet's (a token check, a system error). */
export function isRetryableCode(operation: DeliverableOperation, code: number): boolean {
  switch (operation) {
    case 'update':
      return code === CODES.badSignature || code === CODES.system;
    case 'settle':
    case 'unsettle':
    case 'rollback':
      return (
        code === CODES.badSignature ||
        code === CODES.invalidToken ||
        code === CODES.expiredToken ||
        code === CODES.system
      );
    default:
      return unreachable(operation);
  }
}

/** Whether the wallet may have carried the operation out, although it gave no clear answer. */
function mayHaveTaken(sent: BetAnswer): boolean {
  return sent.kind === 'unknown' || (sent.kind === 'declined' && sent.code === CODES.system);
}

/**
 * A wallet that pays repeats twice (`unknownRepeats: hold`) may have this result from a lost process, or from before
 * that setting: only a person may send it, by a retry.
 * @returns why it is not sent; undefined if it is
 */
export function whyHeld(
  {
    purpose,
    isSentOnceMore,
  }: { readonly purpose: DeliveryPurpose; readonly isSentOnceMore: boolean },
  settlement: Settlement,
  result: AttemptedResult,
): string | undefined {
  if (purpose === 'confirm') return 'it is confirmed already';
  if (settlement.kind !== 'unknown') return undefined;
  if (settlement.attempted.kind === 'several') return 'the process that sent it was lost';
  // Even if this delivery was never attempted: the same result may have been promised again behind another one.
  const isRepeat = sameResult(result, settlement.attempted);
  return isRepeat && !isSentOnceMore ? 'it may have been taken before' : undefined;
}
