import { CODES } from '../domain/codes.ts';
import { accepted, failure } from '../protocol/answers.ts';
import type { Handled } from './context.ts';

/** What the callbacks answer, said once (docs/contract.md, Callbacks). */

export function refused(
  code: number,
  message: string,
  operatorId: string | undefined,
  outcome: Handled['outcome'] = 'invalid',
): Handled {
  return { answer: failure(code, message), outcome, operatorId, detail: { code } };
}

/** Place: the service rolls back. */
export function systemError(
  outcome: 'unknown' | 'not_sent' | 'error',
  operatorId: string | undefined,
  detail: Handled['detail'] = {},
): Handled {
  return { answer: failure(CODES.system, 'System error'), outcome, operatorId, detail };
}

/** Everything but a place: the service retries. */
export function unavailable(
  outcome: 'unknown' | 'not_sent' | 'error',
  operatorId: string | undefined,
  detail: Handled['detail'] = {},
): Handled {
  return {
    answer: failure(CODES.system, 'System error', 503),
    outcome,
    operatorId,
    detail,
  };
}

export function done(
  transactionId: string,
  transactionTime: string,
  outcome: Handled['outcome'],
  operatorId: string | undefined,
  detail: Handled['detail'] = {},
): Handled {
  return { answer: accepted(transactionId, transactionTime), outcome, operatorId, detail };
}
