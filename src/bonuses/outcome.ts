import { CODES } from '../domain/codes.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { LimitedAnswer } from '../operators/limits.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { KeptAnswer } from '../store/bonuses/intent-statements.ts';
import { answerSummary, type NotAnswered } from './service/answer.ts';
import type { Terms } from './translation/terms.ts';
import { translateText } from './translation/translate-text.ts';

/** The outcome of a request, for the metrics; every request has one. */
export type BonusOutcome =
  | 'ok'
  /** Answered with the first answer to the same body. */
  | 'duplicate'
  | 'invalid'
  | 'unauthorized'
  /** Rate limit exceeded. */
  | 'limited'
  /** Suspended, or switched off. */
  | 'forbidden'
  /** Another operator's, or missing. */
  | 'not_found'
  /** Requested before, with the outcome still unknown. */
  | 'open'
  /** Refused by the service. */
  | 'refused'
  /** The service's answer was malformed, or it refused the gateway itself. */
  | 'failed'
  /** The service did not answer. */
  | 'silent'
  /** The service could not be called. */
  | 'unavailable';

export interface BonusResult {
  readonly answer: Answer | LimitedAnswer;
  readonly outcome: BonusOutcome;
  /** Whether it requested something that is another operator's, or missing. */
  readonly denied?: boolean;
  /** Of a call that the service did not answer: why not, for the log. */
  readonly error?: string;
}

export function ok(body: string): BonusResult {
  return { answer: { status: 200, body }, outcome: 'ok' };
}

export function again(answer: KeptAnswer): BonusResult {
  return { answer, outcome: 'duplicate' };
}

export function invalid(message: string): BonusResult {
  return { answer: failure(CODES.validation, message), outcome: 'invalid' };
}

/** The same answer for another operator's object and for a missing one (I8). */
export function notFound(what: 'template' | 'bonus'): BonusResult {
  return {
    answer: failure(CODES.notFound, `No such ${what}`, 404),
    outcome: 'not_found',
    denied: true,
  };
}

/** An earlier call concerns the same template and player, or body, and its outcome is not known yet. */
export function stillOpen(message: string): BonusResult {
  return { answer: failure(CODES.alreadyProcessed, message, 409), outcome: 'open' };
}

/** Appended to the message if the service may have executed the request. */
export const NOTE_OPEN =
  'what came of it is still open: the gateway finds out by itself, and until then answers this ' +
  'call with 409';

/**
 * The operator's answer if the service did not confirm: its 4xx, 502 for a failure, 504 for no answer.
 * @param note for calls that may have taken effect: what happens next
 */
export function notDone(answer: NotAnswered, terms: Terms, note?: string): BonusResult {
  if (answer.kind === 'refused') return refused(answer, terms);
  const noted = (message: string) => (note === undefined ? message : `${message}; ${note}`);
  const failed = (outcome: BonusOutcome, status: number, message: string): BonusResult => ({
    answer: failure(CODES.system, message, status),
    outcome,
    error: answerSummary(answer),
  });
  switch (answer.kind) {
    case 'unauthorized':
      // Not passed on: the message is about the aggregator's account.
      return failed('failed', 502, 'The bonus service refused the gateway');
    case 'failed':
      return failed('failed', 502, noted('The bonus service failed'));
    case 'silent':
      return failed('silent', 504, noted('The bonus service did not answer'));
    case 'notSent':
      return answer.reason === 'deadline'
        ? failed('silent', 504, 'Not sent: no time was left')
        : failed('unavailable', 503, 'Not sent: the bonus service is away');
  }
  return unreachable(answer);
}

function refused(answer: Extract<NotAnswered, { kind: 'refused' }>, terms: Terms): BonusResult {
  const { status, code = codeFor(status), message = 'The bonus service refused' } = answer;
  const refusal = failure(code, translateText(message, terms, 'error'), status);
  const { retryAfterSeconds } = answer;
  const limited = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return { answer: { ...refusal, ...limited }, outcome: 'refused' };
}

function codeFor(status: number): number {
  if (status === 404) return CODES.notFound;
  return status === 429 ? CODES.timeout : CODES.validation;
}
