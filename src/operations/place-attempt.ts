import { concludePlace } from '../domain/conclude.ts';
import { UNRELEASED } from '../domain/generation.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import type { Session } from '../sessions/session.ts';
import type { PlaceIntent } from '../store/bets/place.ts';
import type { Wallet } from '../wallets/call.ts';
import { answerFor, detailOf, type Handled, SYSTEM_ERROR, systemError } from './answers.ts';
import type { Attempt, AttemptResult, Concluded } from './attempt.ts';
import { attemptToCall } from './call-wallet.ts';
import type { PlaceCallback } from './callbacks.ts';

/** The attempt at a place. @param recorded as in its intent */
export function placeAttempt(
  { callbacks, message, deadline }: PlaceCallback,
  wallet: Wallet,
  { owner, operatorToken }: Session,
  { attemptId, generation }: Pick<PlaceIntent, 'attemptId' | 'generation'>,
): Attempt {
  const books = { generation, ...UNRELEASED };
  return attemptToCall(
    callbacks,
    wallet,
    { message, attemptId, owner, books, terms: message },
    deadline,
    async () => ({ operatorToken }),
    (sent) => concludedPlace(message.transactionId, sent),
  );
}

function concludedPlace(transactionId: string, sent: BetAnswer): Concluded {
  const conclusion = concludePlace(sent);
  const answer = answerFor(transactionId, conclusion.answer) ?? SYSTEM_ERROR;
  return { conclusion, delivery: { kind: 'none' }, answer, lateAnswer: SYSTEM_ERROR };
}

/** Only what is committed is answered; otherwise 100. */
export function answerAttempted(
  operatorId: string,
  { committedInTime, concluded, sent }: AttemptResult,
): Handled {
  if (!committedInTime) return systemError('unknown', operatorId, { reason: 'not_recorded' });
  const { answer, conclusion } = concluded;
  return { answer, outcome: conclusion.outcome, operatorId, detail: detailOf(sent) };
}
