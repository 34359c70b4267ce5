import { CODES } from '../domain/codes.ts';
import type { ServiceAnswer } from '../domain/conclude.ts';
import { unreachable } from '../domain/unreachable.ts';
import { type Answer, accepted, failure } from '../protocol/answers.ts';
import {
  namesAnother,
  type Session,
  type SessionLookup,
  tokenRefusal,
} from '../sessions/session.ts';
import { loggedReason } from '../telemetry/logged-reason.ts';
import type { Handled } from './handled.ts';

// The answers of the callbacks, each written once (docs/reference.md, Callbacks).

/** A refusal by the gateway itself, or a wallet's that is passed on. */
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

/** For a settle or unsettle whose bet and player are both unknown: there is no wallet to call. */
export function unknownBet(): Handled {
  return refused(CODES.validation, 'transactionId: is not known', undefined);
}

/** For a rollback or update of a bet that is not in the journal: only its `userId` could say whose it is. */
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

/** The refusal of a message that names another player or currency than its token's session, live or not. */
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

/** A conclusion as an answer of the protocol; undefined if the outcome is not certain. */
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
