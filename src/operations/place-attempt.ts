import { concludePlace } from '../domain/conclude.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import type { Session } from '../sessions/session.ts';
import type { PlaceIntent } from '../store/bets/place.ts';
import type { Wallet } from '../wallets/call.ts';
import { answerFor, SYSTEM_ERROR, systemError } from './answers.ts';
import type { Attempt, AttemptResult } from './attempt.ts';
import { callWallet } from './call-wallet.ts';
import type { PlaceCallback } from './callbacks.ts';
import { finishBet, type WithDelivery } from './finish-bet.ts';
import { detailOf, type Handled } from './handled.ts';
import type { Sending } from './send-permit.ts';
import { UNRELEASED } from './wallet-generation.ts';

export interface PlaceConcluded extends WithDelivery {
  readonly conclusion: ReturnType<typeof concludePlace>;
  /** A place is never promised. */
  readonly delivery: { readonly kind: 'none' };
}

/** The attempt and the `wallet.generation` that a place was recorded with. */
export type RecordedPlace = Pick<PlaceIntent, 'attemptId' | 'generation'>;

/** How a place is sent to the wallet, however its intent was committed. */
function placeAttempt(
  { callbacks, message, deadline }: PlaceCallback,
  wallet: Wallet,
  { owner, operatorToken }: Session,
  { attemptId, generation }: RecordedPlace,
): Omit<Attempt<PlaceConcluded>, 'finish'> {
  const { transactionId } = message;
  return {
    transactionId,
    attemptId,
    operatorId: owner.operatorId,
    operation: 'place',
    deadline,
    call: (sending: Sending) => {
      const books = { generation, ...UNRELEASED };
      const request = { message, attemptId, owner, books, terms: message, operatorToken };
      return callWallet(callbacks, wallet, request, deadline, sending);
    },
    conclude: (sent: BetAnswer) => {
      const conclusion = concludePlace(sent);
      const answer = answerFor(transactionId, conclusion.answer) ?? SYSTEM_ERROR;
      return { conclusion, delivery: { kind: 'none' }, answer, lateAnswer: SYSTEM_ERROR };
    },
  };
}

/** The place that creates its bet's row: intents and outcomes are written in batches. */
export function firstPlaceAttempt(
  placing: PlaceCallback,
  wallet: Wallet,
  session: Session,
  recorded: RecordedPlace,
): Attempt<PlaceConcluded> {
  const { callbacks, message, deadline } = placing;
  const { transactionId } = message;
  const { attemptId } = recorded;
  return {
    ...placeAttempt(placing, wallet, session, recorded),
    finish: (operationId, { conclusion, lateAnswer }, attempt) => {
      const { place } = conclusion.change;
      const outcome = { transactionId, attemptId, operationId, place, attempt, lateAnswer };
      return callbacks.places.finish(outcome, deadline);
    },
  };
}

/** A place that comes after another operation of its bet (a settle or update that was faster). */
export function laterPlaceAttempt(
  placing: PlaceCallback,
  wallet: Wallet,
  session: Session,
  recorded: RecordedPlace,
): Attempt<PlaceConcluded> {
  const attempt = placeAttempt(placing, wallet, session, recorded);
  return { ...attempt, finish: finishBet(placing.callbacks, attempt) };
}

/** Answers only what is committed: an outcome not written in time is answered 100. */
export function answerAttempted(
  operatorId: string,
  { committedInTime, concluded, sent }: AttemptResult<PlaceConcluded>,
): Handled {
  if (!committedInTime) return systemError('unknown', operatorId, { reason: 'not_recorded' });
  const { answer, conclusion } = concluded;
  return { answer, outcome: conclusion.outcome, operatorId, detail: detailOf(sent) };
}
