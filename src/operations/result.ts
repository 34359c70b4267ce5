import { randomUUID } from 'node:crypto';
import { resultOf } from '../domain/asked.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { Bet } from '../domain/bet.ts';
import { concludeResult, promisedAfter } from '../domain/conclude.ts';
import { resultUnsent } from '../domain/decide.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { within } from '../lib/within.ts';
import { accepted, isoTime } from '../protocol/answers.ts';
import type { SettleRequest, UnsettleRequest } from '../protocol/messages.ts';
import type { Wallet } from '../wallets/call.ts';
import { answerFor, detailOf, type Handled, UNAVAILABLE, unavailable } from './answers.ts';
import { type Attempt, type AttemptResult, type Concluded, runAttempt } from './attempt.ts';
import type { BetCallback } from './bet-callback.ts';
import { attemptToCall, callableWallet, companionsOf } from './call-wallet.ts';
import { beginAttempt, ownerOf, promiseOf, recordUnsent, takeOver } from './commit.ts';
import { leaveToPerson } from './first-request.ts';
import { deliverySettings } from './operator-settings.ts';

type ResultCallback = BetCallback<SettleRequest> | BetCallback<UnsettleRequest>;

/** The differences between sending a settle and an unsettle. */
export interface ResultTerms {
  /** For a cashout: the operator token of the session that requested it; otherwise undefined. */
  readonly cashoutToken: string | undefined;
  /** Whether a result that cannot be delivered now becomes a delivery, answered 200. */
  readonly mayQueue: boolean;
}

/** Until its outcome is known, nothing is answered from the journal. @returns 'moved' if the bet has changed */
export async function sendResult(
  callback: ResultCallback,
  bet: Bet,
  terms: ResultTerms,
): Promise<Handled | 'moved'> {
  const { callbacks, message, deadline } = callback;
  const { operatorId } = ownerOf(bet);
  const callable = callableWallet(callbacks, bet, message.operation, deadline);
  if ('refusal' in callable) {
    if (terms.mayQueue) return await takeOverResult(callback, bet, []);
    const { refusal: reason } = callable;
    callbacks.metrics.rejected.inc({ operator: operatorId, reason });
    return unavailable('not_sent', operatorId, { reason });
  }
  const { wallet } = callable;
  if (wallet.callerDialect.holdUnknownRepeats && bet.settlement.kind === 'unknown') {
    return await heldForPerson(callback, bet);
  }
  const attempt = await resultAttempt(callback, wallet, bet, terms);
  const attempted = await runAttempt(
    callbacks,
    attempt,
    () =>
      beginAttempt(callback, attempt.attemptId, { from: bet, to: bet, supersedes: [] }, undefined),
    deadline.walletMs(),
  );
  return attempted.kind === 'moved' ? 'moved' : handledOf(operatorId, attempted);
}

function handledOf(operatorId: string, attempted: AttemptResult): Handled {
  const { conclusion, delivery, answer, lateAnswer } = attempted.concluded;
  const detail = detailOf(attempted.sent);
  // Only what is committed is answered; otherwise 503, and the service repeats it.
  if (!attempted.committedInTime) {
    const late = { ...detail, reason: 'not_recorded' };
    return { answer: lateAnswer, outcome: 'unknown', operatorId, detail: late };
  }
  const isTakenOver = delivery.kind === 'new' && delivery.delivery.state === 'pending';
  const outcome = isTakenOver ? 'taken_over' : conclusion.outcome;
  return { answer, outcome, operatorId, detail };
}

/**
 * A wallet that pays repeats twice never gets one (`unknownRepeats: hold`): a person has to decide. The dead letter is
 * made at the attempt's end or by the worker (`deliveries/confirm.ts`); here only if the dialect was set later.
 */
async function heldForPerson(
  { callbacks, message, transactionId, deadline }: ResultCallback,
  bet: Bet,
): Promise<Handled> {
  const { operatorId } = ownerOf(bet);
  const { operation } = message;
  callbacks.logger.error({ operator: operatorId, operation, transactionId }, 'bet.repeat_held');
  if (bet.late === undefined) await within(deadline.answerMs(), leaveToPerson(callbacks, bet));
  return unavailable('unknown', operatorId, { reason: 'held' });
}

async function resultAttempt(
  callback: ResultCallback,
  wallet: Wallet,
  bet: Bet,
  terms: ResultTerms,
): Promise<Attempt> {
  const { callbacks, message, deadline } = callback;
  const attemptId = randomUUID();
  const { cashoutToken } = terms;
  // Read before the commit, which fails if another operation comes in between.
  const companions = await within(
    deadline.walletMs(),
    companionsOf(callbacks, wallet, message, bet, { attemptId }, cashoutToken),
  );
  const request = { message, attemptId, owner: ownerOf(bet), books: bet, terms: bet };
  return attemptToCall(
    callbacks,
    wallet,
    request,
    deadline,
    async () => companions,
    (sent) => conclude(callback, wallet, bet, sent, terms),
  );
}

function conclude(
  callback: ResultCallback,
  wallet: Wallet,
  bet: Bet,
  sent: BetAnswer,
  { mayQueue }: ResultTerms,
): Concluded {
  const { callbacks, message, transactionId, deadline } = callback;
  const isCashout = message.operation === 'settle' && message.resultType === 'cashout';
  const conclusion = concludeResult(bet, resultOf(message), sent, {
    tokenIsChecked: isCashout,
    answeredTime: undefined,
  });
  const { holdUnknownRepeats: holdsRepeats } = wallet.callerDialect;
  // A caller who has hung up is promised nothing: it repeats the result (I11).
  const options = { holdsRepeats, mayQueue: mayQueue && !deadline.hasEnded };
  const state = promisedAfter(conclusion, options);
  const answer = answerFor(transactionId, conclusion.answer) ?? UNAVAILABLE;
  const concluded = { conclusion, answer, lateAnswer: UNAVAILABLE };
  if (state === undefined) return { ...concluded, delivery: { kind: 'none' } };
  const transactionTime = nowOf(callback);
  const delivery = promiseOf(callback, { from: bet, transactionTime }, state);
  if (state === 'dead') return { ...concluded, delivery: { kind: 'new', delivery, retryInMs: 0 } };
  const settings = deliverySettings(callbacks.configuration(), ownerOf(bet).operatorId);
  const retryInMs = sent.kind === 'notSent' ? 0 : backoffMs(1, settings, Math.random());
  return {
    ...concluded,
    delivery: { kind: 'new', delivery, retryInMs },
    answer: accepted(transactionId, transactionTime),
  };
}

/** Commits the operation as a delivery, behind or instead of pending ones, and answers 200. */
export async function takeOverResult(
  callback: ResultCallback,
  bet: Bet,
  supersedes: readonly string[],
): Promise<Handled | 'moved'> {
  const transactionTime = nowOf(callback);
  return await takeOver(callback, { from: bet, to: bet, transactionTime, supersedes });
}

/** Records a result that need not be sent, and answers 200. */
export async function recordUnsentResult(
  callback: ResultCallback,
  bet: Bet,
  supersedes: readonly string[],
): Promise<Handled | 'moved'> {
  const settlement = resultUnsent(bet.settlement, callback.message.operation, nowOf(callback));
  const { transactionTime } = settlement;
  const to = { ...bet, settlement };
  return await recordUnsent(callback, { from: bet, to, transactionTime, supersedes });
}

function nowOf({ callbacks }: ResultCallback): string {
  return isoTime(callbacks.clock.nowMs());
}
