import {
  type AttemptedResult,
  type Bet,
  type LateOperation,
  lateAfter,
  type PlaceState,
  type Rollback,
  type Settlement,
  sameResult,
  unknownAfter,
} from './bet.ts';
import { CODES } from './codes.ts';
import { isRetryableCode } from './delivery.ts';
import { unreachable } from './unreachable.ts';
import type { BetAnswer } from './wallet-answer.ts';

/** The answer to the service once an operation's outcome is committed. */
export type ServiceAnswer =
  | { readonly kind: 'accepted'; readonly transactionTime: string }
  | { readonly kind: 'refused'; readonly code: number; readonly message: string };

/** The changes of an attempt to its bet; absent members stay as they are. */
export interface BetChange {
  readonly place?: PlaceState;
  readonly settlement?: Settlement;
  readonly rollback?: Rollback;
  readonly update?: Bet['update'];
  /** May take effect late: the standing operation has to be confirmed two more times from now on. */
  readonly late?: LateOperation;
  /** A wallet has confirmed this operation: it is the standing one. */
  readonly stands?: boolean;
}

/** What a wallet's answer to one operation means. */
export interface Conclusion {
  readonly outcome: 'accepted' | 'declined' | 'unknown' | 'not_sent';
  /** Undefined if the outcome is uncertain: a place is answered 100, a result 503, the others become deliveries. */
  readonly answer: ServiceAnswer | undefined;
  readonly change: BetChange;
}

/** A place: only the wallet's own definite refusal is a decline (I2). */
export function concludePlace(
  sent: BetAnswer,
): Conclusion & { readonly change: { place: PlaceState } } {
  switch (sent.kind) {
    case 'accepted': {
      const { transactionTime } = sent;
      return {
        outcome: 'accepted',
        answer: { kind: 'accepted', transactionTime },
        change: { place: { kind: 'accepted', transactionTime } },
      };
    }
    case 'declined': {
      const { code, message } = sent;
      return {
        outcome: 'declined',
        answer: { kind: 'refused', code, message },
        change: { place: { kind: 'declined', code, message } },
      };
    }
    case 'notSent':
      return { outcome: 'not_sent', answer: undefined, change: { place: { kind: 'notSent' } } };
    case 'unknown':
      return { outcome: 'unknown', answer: undefined, change: { place: { kind: 'unknown' } } };
    default:
      return unreachable(sent);
  }
}

/** A settle or unsettle. While its outcome is unknown so is the bet's result. */
export function concludeResult(
  bet: Pick<Bet, 'settlement' | 'late'>,
  attempted: AttemptedResult,
  sent: BetAnswer,
  options: {
    /** A wallet may check the player's token only for a cashout, which the player requests. */
    readonly tokenIsChecked: boolean;
    /** The `transactionTime` in an earlier answer to the service, if there was one. */
    readonly answeredTime: string | undefined;
  },
): Conclusion {
  const unknown: Conclusion = {
    outcome: 'unknown',
    answer: undefined,
    change: {
      settlement: unknownAfter(bet.settlement, attempted),
      late: lateAfter(bet.late, attempted),
    },
  };
  switch (sent.kind) {
    case 'accepted': {
      const transactionTime = options.answeredTime ?? sent.transactionTime;
      const settlement = standingSettlement(attempted, transactionTime);
      return {
        outcome: 'accepted',
        answer: { kind: 'accepted', transactionTime },
        change: { settlement, stands: true },
      };
    }
    case 'declined': {
      const { code, message } = sent;
      // A system error may come after the money moved; a wrong signature or token cannot.
      if (code === CODES.system) return unknown;
      const isTokenRefusal = code === CODES.invalidToken || code === CODES.expiredToken;
      // A wallet checks the token first, so its refusal says nothing about the effect of an earlier attempt.
      const isDecidedByToken =
        isTokenRefusal && options.tokenIsChecked && !mayBeTaken(bet.settlement, attempted);
      if (isRetryableCode('settle', code) && !isDecidedByToken) {
        return { outcome: 'not_sent', answer: undefined, change: {} };
      }
      return { outcome: 'declined', answer: { kind: 'refused', code, message }, change: {} };
    }
    case 'notSent':
      return { outcome: 'not_sent', answer: undefined, change: {} };
    case 'unknown':
      return unknown;
    default:
      return unreachable(sent);
  }
}

/** Whether an earlier attempt at the same result got no answer. */
function mayBeTaken(settlement: Settlement, attempted: AttemptedResult): boolean {
  if (settlement.kind !== 'unknown') return false;
  const before = settlement.attempted;
  return before.kind === 'several' || sameResult(before, attempted);
}

/** The bet's result once a wallet has confirmed this one. @throws Error for `several` */
export function standingSettlement(
  attempted: AttemptedResult,
  transactionTime: string,
): Settlement {
  switch (attempted.kind) {
    case 'settle': {
      const { amount, resultType } = attempted;
      return { kind: 'settled', amount, resultType, transactionTime };
    }
    case 'unsettle':
      return { kind: 'unsettled', transactionTime };
    case 'several':
      throw new Error('an attempt is one operation');
    default:
      return unreachable(attempted);
  }
}

/**
 * What a result without an answer leaves behind. `dead`: only a person may send it again, with an alert at once.
 * @param options.mayQueue whether a result that cannot be delivered may be promised to its caller
 */
export function promisedAfter(
  { outcome, answer }: Conclusion,
  options: { readonly holdsRepeats: boolean; readonly mayQueue: boolean },
): 'dead' | 'pending' | undefined {
  if (outcome === 'unknown' && options.holdsRepeats) return 'dead';
  return answer === undefined && options.mayQueue ? 'pending' : undefined;
}

/**
 * 200 or 400 code 8 confirms a rollback (service protocol, Events); after anything else its promise stays open.
 * @param promisedTime recorded if a code confirms it, which has no time of its own
 */
export function concludeRollback(
  bet: Pick<Bet, 'place' | 'rollback'>,
  sent: BetAnswer,
  options: {
    readonly promisedTime: string;
    /** Whether the service already got the promise: that answer then stays, whatever the wallet answers. */
    readonly isAnswered: boolean;
  },
): Conclusion {
  // A place of unknown outcome may debit after its rollback, so the rollback will be sent again.
  const late: { late?: LateOperation } =
    bet.place.kind === 'unknown' && bet.rollback.kind !== 'confirmed'
      ? { late: { kind: 'place' } }
      : {};
  if (sent.kind === 'accepted') {
    const transactionTime = options.isAnswered ? options.promisedTime : sent.transactionTime;
    return {
      outcome: 'accepted',
      answer: { kind: 'accepted', transactionTime },
      change: { rollback: { kind: 'confirmed', transactionTime }, stands: true, ...late },
    };
  }
  if (sent.kind === 'declined' && sent.code === CODES.alreadyProcessed) {
    const { code, message } = sent;
    const confirmed = { kind: 'confirmed', transactionTime: options.promisedTime } as const;
    return {
      outcome: 'accepted',
      answer: { kind: 'refused', code, message },
      change: {
        rollback: options.isAnswered ? confirmed : { ...confirmed, refusal: { code, message } },
        stands: true,
        ...late,
      },
    };
  }
  return { outcome: openOutcome(sent), answer: undefined, change: {} };
}

/** Replaces the coefficients of a refused update: no update's key equals it. */
const NO_UPDATE = 'refused';

/** 200, or a refusal other than 1 and 100, ends it. @param options.before the update in force after a refusal */
export function concludeUpdate(
  sent: BetAnswer,
  options: {
    readonly key: string;
    readonly promisedTime: string;
    readonly isAnswered: boolean;
    readonly before: Bet['update'];
  },
): Conclusion {
  const { key, promisedTime, before } = options;
  if (sent.kind === 'accepted') {
    const transactionTime = options.isAnswered ? promisedTime : sent.transactionTime;
    return {
      outcome: 'accepted',
      answer: { kind: 'accepted', transactionTime },
      // A repeat is answered with the wallet's time, not with that of a promise.
      change: options.isAnswered ? {} : { update: { key, transactionTime } },
    };
  }
  if (sent.kind === 'declined' && !isRetryableCode('update', sent.code)) {
    return {
      outcome: 'declined',
      answer: { kind: 'accepted', transactionTime: promisedTime },
      change: { update: before ?? { key: NO_UPDATE, transactionTime: promisedTime } },
    };
  }
  return { outcome: openOutcome(sent), answer: undefined, change: {} };
}

function openOutcome(sent: BetAnswer): 'unknown' | 'not_sent' {
  return sent.kind === 'notSent' ? 'not_sent' : 'unknown';
}
