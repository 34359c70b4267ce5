import type { Bet, Rollback } from '../domain/bet.ts';
import { CODES } from '../domain/codes.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { type Answer, accepted, failure } from '../protocol/answers.ts';
import type { DeliverySettings } from './settings.ts';

/** What a wallet's answer settles for good; where it settles nothing, the promise stays open. */
export interface Conclusion {
  /** What the service is told, where it is still waiting. */
  readonly answer: Answer;
  readonly word: 'accepted' | 'declined';
  readonly delivery: 'delivered' | 'refused';
  readonly rollback?: Rollback | undefined;
  readonly update?: Bet['update'];
}

/**
 * Whether a wallet's answer confirms a rollback: 200, or 400 code 8 (docs/protocol.md, Events).
 * @param recordedTime kept with a confirmation by code, which carries no time of its own
 */
export function rollbackConclusion(
  transactionId: string,
  recordedTime: string,
  sent: BetAnswer,
): Conclusion | undefined {
  if (sent.kind === 'accepted') {
    const { transactionTime } = sent;
    return {
      answer: accepted(transactionId, transactionTime),
      word: 'accepted',
      delivery: 'delivered',
      rollback: { kind: 'confirmed', transactionTime },
    };
  }
  if (sent.kind === 'declined' && sent.code === CODES.alreadyProcessed) {
    const refusal = { code: sent.code, message: sent.message };
    return {
      answer: failure(refusal.code, refusal.message),
      word: 'accepted',
      delivery: 'delivered',
      rollback: { kind: 'confirmed', transactionTime: recordedTime, refusal },
    };
  }
  return undefined;
}

/** In place of the coefficients of an update that was refused: equal to no update's. */
const NO_UPDATE = 'refused';

/**
 * Whether a wallet's answer ends an update: 200, or a refusal by any code but 1 and 100.
 * @param answeredTime what the service is told where the wallet has not accepted it
 * @param before what the bet's last update was: a refused one leaves it in force
 */
export function updateConclusion(
  transactionId: string,
  answeredTime: string,
  before: Bet['update'],
  sent: BetAnswer,
): Conclusion | undefined {
  if (sent.kind === 'accepted') {
    return {
      answer: accepted(transactionId, sent.transactionTime),
      word: 'accepted',
      delivery: 'delivered',
    };
  }
  const refused =
    sent.kind === 'declined' && sent.code !== CODES.badSignature && sent.code !== CODES.system;
  if (!refused) return undefined;
  return {
    answer: accepted(transactionId, answeredTime),
    word: 'declined',
    delivery: 'refused',
    update: before ?? { key: NO_UPDATE, transactionTime: answeredTime },
  };
}

/** The second repetition of an unknown place's rollback waits this many times as long. */
const SECOND_REPETITION_FACTOR = 10;

/**
 * When a confirmed rollback has to be confirmed once more, because the place it undoes is of
 * unknown outcome: the wallet may debit late, or was frozen with the request.
 * @param confirmations how often it was confirmed before this time
 * @returns milliseconds from now, or undefined when that was the last time
 */
export function confirmAgainInMs(
  placeUnknown: boolean,
  conclusion: Conclusion,
  confirmations: number,
  settings: DeliverySettings,
): number | undefined {
  if (!placeUnknown || conclusion.rollback === undefined) return undefined;
  if (confirmations === 0) return settings.confirmUnknownAfterMs;
  if (confirmations === 1) return settings.confirmUnknownAfterMs * SECOND_REPETITION_FACTOR;
  return undefined;
}
