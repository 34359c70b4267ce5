import { CODES } from '../domain/codes.ts';
import type { ServiceAnswer } from '../domain/conclude.ts';
import type { BetOperation } from '../domain/operation.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { BetAnswer, ReadFailure, WalletTrace } from '../domain/wallet-answer.ts';
import { type Answer, accepted, failure } from '../protocol/answers.ts';
import {
  namesAnother,
  type Session,
  type SessionLookup,
  tokenRefusal,
} from '../sessions/session.ts';
import { loggedReason } from '../telemetry/logger.ts';
import type { Engine } from './engine.ts';

/** The label `outcome` of `gateway_callbacks_total`. */
export type CallbackOutcome =
  | 'accepted'
  | 'declined'
  | 'unknown'
  | 'not_sent'
  | 'duplicate'
  | 'conflict'
  | 'taken_over'
  | 'invalid'
  | 'unauthorized'
  | 'error';

/** A callback's answer, with the facts to count and log. */
export interface Handled {
  readonly answer: Answer;
  readonly outcome: CallbackOutcome;
  readonly operatorId: string | undefined;
  /** Facts for the log line; never a token, a secret or a personal field. */
  readonly detail?: Readonly<Record<string, string | number | undefined>>;
}

/** Facts of a callback's wallet call for its log line. */
export function detailOf(
  sent: BetAnswer | { readonly kind: 'answered'; readonly trace: WalletTrace },
): NonNullable<Handled['detail']> {
  const { latencyMs, code } = sent.trace;
  return { walletMs: Math.round(latencyMs), code, reason: failureOf(sent) };
}

/** Why the wallet's answer is missing, in one word, for the on-call person. */
function failureOf(sent: Parameters<typeof detailOf>[0]): string | undefined {
  if (sent.kind === 'notSent') return sent.reason;
  return sent.kind === 'unknown' ? sent.fault : undefined;
}

// The answers of the callbacks, each written once (docs/reference.md, Callbacks).

/** A refusal by the gateway itself or passed on from a wallet. */
export function refused(
  code: number,
  message: string,
  operatorId: string | undefined,
  outcome: Handled['outcome'] = 'invalid',
): Handled {
  // Only the gateway's own message, which names a field, is logged; a wallet's may name a player.
  const isOwn = outcome === 'invalid' && code === CODES.validation;
  const reason = isOwn ? loggedReason(message) : undefined;
  return { answer: failure(code, message), outcome, operatorId, detail: { code, reason } };
}

/** For a settle or unsettle whose bet and player are both unknown: no wallet can be called. */
export function unknownBet(): Handled {
  return refused(CODES.validation, 'transactionId: is not known', undefined);
}

/** For a rollback or update of a bet that is not in the journal: only its `userId` could name the owner. */
export function unnamedPlayer(): Handled {
  return refused(CODES.validation, 'userId: must be a string of 1 to 64 characters', undefined);
}

/** A token that may not be used: 3 invalid, 4 expired. */
export function tokenRefused(
  lookup: Exclude<SessionLookup, { kind: 'live' }>,
  operatorId = lookup.kind === 'unknown' ? undefined : lookup.session.owner.operatorId,
): Handled {
  const code = tokenRefusal(lookup);
  const words = code === CODES.invalidToken ? 'Invalid token' : 'Token out of date';
  return refused(code, words, operatorId);
}

/** Refuses a message with another player or currency than its token's session has, live or not. */
export function mismatchRefused(
  message: Parameters<typeof namesAnother>[0],
  { owner, currency }: Pick<Session, 'owner' | 'currency'>,
): Handled | undefined {
  return namesAnother(message, owner.userId, currency)
    ? refused(CODES.invalidToken, 'Invalid token', owner.operatorId)
    : undefined;
}

/** The answer to a place that is not certainly accepted or declined: the service rolls it back. */
export const SYSTEM_ERROR: Answer = failure(CODES.system, 'System error');

/** For a place: code 100, so that the service rolls back. */
export function systemError(
  outcome: 'unknown' | 'not_sent' | 'error',
  operatorId: string | undefined,
  detail: Handled['detail'] = {},
): Handled {
  return { answer: SYSTEM_ERROR, outcome, operatorId, detail };
}

/** Neither delivered nor accepted as a delivery: the service repeats it. */
export const UNAVAILABLE: Answer = failure(CODES.system, 'System error', 503);

/** For everything but a place: 503, so that the service retries. */
export function unavailable(
  outcome: 'unknown' | 'not_sent' | 'error',
  operatorId: string | undefined,
  detail: Handled['detail'] = {},
): Handled {
  return { answer: UNAVAILABLE, outcome, operatorId, detail };
}

/** The success answer of an operation on a bet. */
export function done(
  transactionId: string,
  transactionTime: string,
  outcome: Handled['outcome'],
  operatorId: string | undefined,
  detail: Handled['detail'] = {},
): Handled {
  return { answer: accepted(transactionId, transactionTime), outcome, operatorId, detail };
}

/** A conclusion as an answer of the protocol; undefined if the outcome is uncertain. */
export function answerFor(
  transactionId: string,
  answer: ServiceAnswer | undefined,
): Answer | undefined {
  if (answer === undefined) return undefined;
  switch (answer.kind) {
    case 'accepted':
      return accepted(transactionId, answer.transactionTime);
    case 'refused':
      return failure(answer.code, answer.message);
    default:
      return unreachable(answer);
  }
}

/** The answer to a profile or balance without the wallet's data. */
export function readOutcome(operatorId: string, answer: ReadFailure): Handled {
  // A bet's error is in the journal; that of a profile or balance only in this line.
  const detail = { ...detailOf(answer), error: answer.trace.error };
  switch (answer.kind) {
    case 'declined':
      return refused(answer.code, answer.message, operatorId, 'declined');
    case 'notSent':
      return unavailable('not_sent', operatorId, detail);
    case 'unknown':
      return unavailable('error', operatorId, detail);
    default:
      return unreachable(answer);
  }
}

/** If the operator's file was removed: as in maintenance. */
export function withoutWallet({ metrics }: Engine, operatorId: string): Handled {
  const reason = 'maintenance';
  metrics.rejected.inc({ operator: operatorId, reason });
  return unavailable('not_sent', operatorId, { reason });
}

/** The answered operation, and its operator if known. */
interface Answered {
  readonly operation: BetOperation;
  readonly operatorId: string | undefined;
}

/** Repeats a recorded answer, counted by its source. */
export function answerDuplicate(
  { metrics }: Pick<Engine, 'metrics'>,
  { operation, operatorId }: Answered,
  source: 'in_flight' | 'journal' | 'redis',
  answer: Answer,
): Handled {
  metrics.duplicates.inc({ operator: operatorId ?? 'unknown', operation, source });
  return { answer, outcome: 'duplicate', operatorId };
}

/** Refuses an operation that contradicts the record (I10). */
export function answerConflict(
  callbacks: Pick<Engine, 'metrics' | 'logger'>,
  answered: Answered & { readonly transactionId: string },
  why: string,
): Handled {
  countConflict(callbacks, answered, why);
  return refused(CODES.validation, `transactionId: ${why}`, answered.operatorId, 'conflict');
}

export function countConflict(
  { metrics, logger }: Pick<Engine, 'metrics' | 'logger'>,
  { operation, operatorId, transactionId }: Answered & { readonly transactionId: string },
  why: string,
): void {
  metrics.conflicts.inc({ operator: operatorId ?? 'unknown' });
  logger.warn({ operator: operatorId, operation, transactionId, why }, 'bet.conflict');
}
