import type { PlaceState } from '../domain/bet.ts';
import { CODES } from '../domain/codes.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { type Answer, accepted, failure } from '../protocol/answers.ts';
import type { Handled } from './context.ts';

/** Makes the service roll back. */
export const SYSTEM_ERROR: Answer = failure(CODES.system, 'System error');

export interface PlaceOutcome {
  /** What the journal keeps. */
  readonly place: PlaceState;
  /** What the service is told once that is committed. */
  readonly answer: Answer;
  /** What it is counted under. */
  readonly word: Handled['outcome'];
}

/** What a wallet's answer to a place means (I2): only its own definite word is a decline. */
export function placeOutcome(transactionId: string, sent: BetAnswer): PlaceOutcome {
  switch (sent.kind) {
    case 'accepted':
      return {
        place: { kind: 'accepted', transactionTime: sent.transactionTime },
        answer: accepted(transactionId, sent.transactionTime),
        word: 'accepted',
      };
    case 'declined':
      return {
        place: { kind: 'declined', code: sent.code, message: sent.message },
        answer: failure(sent.code, sent.message),
        word: 'declined',
      };
    case 'notSent':
      return { place: { kind: 'notSent' }, answer: SYSTEM_ERROR, word: 'not_sent' };
    case 'unknown':
      return { place: { kind: 'unknown' }, answer: SYSTEM_ERROR, word: 'unknown' };
    default:
      return unreachable(sent);
  }
}
