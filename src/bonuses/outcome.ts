import { CODES } from '../domain/codes.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { LimitedAnswer } from '../operators/limits.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { KeptAnswer } from '../store/bonuses/intent-statements.ts';
import type { BonusApiAnswer } from './service/answer.ts';
import type { Terms } from './translation/terms.ts';
import { translateText } from './translation/translate-text.ts';

/** What became of a request, for the metrics; every request has one. */
const BONUS_OUTCOMES = [
  'ok',
  /** Answered with what the same body was answered first. */
  'duplicate',
  'invalid',
  'unauthorized',
  /** More requests than an operator may make. */
  'limited',
  /** Suspended, or switched off. */
  'forbidden',
  /** Not the operator's, or not there at all. */
  'not_found',
  /** Asked for before, and still open. */
  'open',
  /** The service's own no. */
  'refused',
  /** The service answered what nobody understands, or refused the gateway itself. */
  'failed',
  /** The service fell silent. */
  'silent',
  /** The service could not be asked. */
  'unavailable',
] as const;

export type BonusOutcome = (typeof BONUS_OUTCOMES)[number];

export interface BonusResult {
  readonly answer: Answer | LimitedAnswer;
  readonly outcome: BonusOutcome;
  /** Whether it asked for what is not the operator's, or not there. */
  readonly denied?: boolean;
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

/** The same bytes for what is another operator's and for what does not exist (I8). */
export function notFound(what: 'template' | 'bonus'): BonusResult {
  return {
    answer: failure(CODES.notFound, `No such ${what}`, 404),
    outcome: 'not_found',
    denied: true,
  };
}

/** An earlier call touched the same, and what came of it is not known yet. */
export function stillOpen(message: string): BonusResult {
  return { answer: failure(CODES.alreadyProcessed, message, 409), outcome: 'open' };
}

type NotAnswered = Exclude<BonusApiAnswer, { kind: 'answered' }>;

/** Stands behind the message where the service may have done what it was asked for. */
export const NOTE_OPEN =
  'what came of it is still open: the gateway finds out by itself, and until then answers this ' +
  'call with 409';

/**
 * What the operator is answered when the service did not do as asked (docs/bonuses.md, Errors): its
 * 4xx passed on, 502 for what failed, 504 for silence.
 * @param note for calls that may have taken effect: what becomes of them
 */
export function notDone(answer: NotAnswered, terms: Terms, note?: string): BonusResult {
  const noted = (message: string) => (note === undefined ? message : `${message}; ${note}`);
  const system = (status: number, message: string) => failure(CODES.system, message, status);
  switch (answer.kind) {
    case 'refused': {
      const { status, code = codeFor(status), message = 'The bonus service refused' } = answer;
      const refusal = failure(code, translateText(message, terms, 'error'), status);
      const { retryAfterSeconds } = answer;
      const limited = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
      return { answer: { ...refusal, ...limited }, outcome: 'refused' };
    }
    case 'unauthorized':
      // Its words are about the aggregator's account, which is no operator's business.
      return { answer: system(502, 'The bonus service refused the gateway'), outcome: 'failed' };
    case 'failed':
      return { answer: system(502, noted('The bonus service failed')), outcome: 'failed' };
    case 'silent':
      return { answer: system(504, noted('The bonus service did not answer')), outcome: 'silent' };
    case 'notSent':
      return answer.reason === 'deadline'
        ? { answer: system(504, 'Not sent: no time was left'), outcome: 'silent' }
        : { answer: system(503, 'Not sent: the bonus service is away'), outcome: 'unavailable' };
  }
  return unreachable(answer);
}

function codeFor(status: number): number {
  if (status === 404) return CODES.notFound;
  return status === 429 ? CODES.timeout : CODES.validation;
}
