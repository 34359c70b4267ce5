import { randomUUID } from 'node:crypto';
import { backoffMs } from '../domain/backoff.ts';
import type { Bet } from '../domain/bet.ts';
import type { Conclusion } from '../domain/conclude.ts';
import { afterAttempt } from '../domain/delivery.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { accepted } from '../protocol/answers.ts';
import type { RollbackRequest, UpdateRequest } from '../protocol/messages.ts';
import type { NewDelivery } from '../store/bets/commit.ts';
import type { Wallet } from '../wallets/call.ts';
import { answerFor, done } from './answers.ts';
import { type Attempt, runAttempt } from './attempt.ts';
import type { BetCallback } from './bet-callback.ts';
import { callToken } from './call-token.ts';
import { callWallet, UNREAD } from './call-wallet.ts';
import { callableWallet } from './callable-wallet.ts';
import { answerUnsent, commitInTime, type NextState, ownerOf, recordOf } from './commit.ts';
import { deliverySettings, newDelivery } from './delivery-settings.ts';
import { finishBet, type WithDelivery } from './finish-bet.ts';
import { detailOf, type Handled } from './handled.ts';

export type PromisedCallback = BetCallback<RollbackRequest> | BetCallback<UpdateRequest>;

interface PromisedConcluded extends WithDelivery {
  readonly promisedTime: string;
}

/**
 * Accepts the operation as a delivery without an attempt: answered 200 once that is committed (I3).
 */
export async function takeOver(
  callback: PromisedCallback,
  next: NextState,
): Promise<Handled | 'moved'> {
  return await answerUnsent(callback, next, promiseOf(callback, next, 'pending'));
}

/** Records an operation that need not be sent to any wallet, and answers 200. */
export async function recordUnsent(
  callback: PromisedCallback,
  next: NextState,
): Promise<Handled | 'moved'> {
  return await answerUnsent(callback, next, undefined);
}

/**
 * Promises first, sends second: the delivery is committed together with the intent, so that nothing is lost if the
 * process is killed at any point; it is deleted again if the wallet confirms within the deadline. If the outcome
 * cannot be recorded, the delivery repeats the call, and the answer is the promise.
 */
export async function sendPromised(
  callback: PromisedCallback,
  next: NextState,
  conclude: (sent: BetAnswer) => Conclusion,
): Promise<Handled | 'moved'> {
  const { callbacks, message, deadline, transactionId } = callback;
  const { from, to, supersedes, transactionTime } = next;
  const { operatorId } = ownerOf(from);
  const callable = callableWallet(callbacks, from, message.operation, deadline);
  if ('refusal' in callable) return await takeOver(callback, next);
  const attempt = promisedAttempt(callback, callable.wallet, next, conclude);
  const { attemptId } = attempt;
  // Committed by the answer's deadline, not the wallet's: if there is no time left for the call by then, the
  // promise alone is the answer.
  const attempted = await runAttempt(
    callbacks,
    attempt,
    () =>
      commitInTime(callbacks, deadline, {
        from,
        to: { ...to, busy: { operation: message.operation, attemptId, lapsed: false } },
        record: recordOf(callback, attemptId, undefined),
        delivery: promiseOf(callback, next, 'live'),
        supersedes,
      }),
    deadline.answerMs(),
  );
  if (attempted.kind === 'moved') return 'moved';
  const { conclusion, answer, lateAnswer } = attempted.concluded;
  const detail = detailOf(attempted.sent);
  const isConcluded = conclusion.answer !== undefined && attempted.committedInTime;
  if (isConcluded) return { answer, outcome: conclusion.outcome, operatorId, detail };
  return {
    ...done(transactionId, transactionTime, 'taken_over', operatorId, detail),
    answer: lateAnswer,
  };
}

function promisedAttempt(
  callback: PromisedCallback,
  wallet: Wallet,
  next: NextState,
  conclude: (sent: BetAnswer) => Conclusion,
): Attempt<PromisedConcluded> {
  const { callbacks, message, deadline, transactionId } = callback;
  const { operation } = message;
  const owner = ownerOf(next.from);
  const { operatorId } = owner;
  const settings = deliverySettings(callbacks.configuration(), operatorId);
  // Read in parallel with committing the promise, which does not need it.
  const token = findToken(callback, next.from, wallet);
  const attemptId = randomUUID();
  const promise = accepted(transactionId, next.transactionTime);
  const attempt: Omit<Attempt<PromisedConcluded>, 'finish'> = {
    transactionId,
    attemptId,
    operatorId,
    operation,
    deadline,
    call: async (sending) => {
      const found = await token;
      if (found.kind === 'unread') return UNREAD;
      const hadResult = next.from.settlement.kind !== 'none';
      const operatorToken = found.token;
      const bet = { books: next.from, terms: next.from };
      const request = { message, attemptId, owner, ...bet, operatorToken, hadResult };
      return await callWallet(callbacks, wallet, request, deadline, sending);
    },
    conclude: (sent) => {
      const conclusion = conclude(sent);
      const retryInMs = backoffMs(1, settings, Math.random());
      const attempted = { operation, purpose: 'promise', isOverdue: false, retryInMs } as const;
      const after = afterAttempt(attempted, sent);
      return {
        conclusion,
        delivery: { kind: 'after', after, purpose: 'promise', isCounted: false },
        answer: answerFor(transactionId, conclusion.answer) ?? promise,
        lateAnswer: promise,
        promisedTime: next.transactionTime,
      };
    },
  };
  return { ...attempt, finish: finishBet(callbacks, attempt) };
}

type FoundToken =
  | { readonly kind: 'found'; readonly token: string | undefined }
  /** It could not be read: nothing is sent, the promise stands, and its delivery reads the token again. */
  | { readonly kind: 'unread' };

/** The token to send with the call. Never rejects. */
async function findToken(
  callback: PromisedCallback,
  bet: Bet,
  wallet: Wallet,
): Promise<FoundToken> {
  try {
    return { kind: 'found', token: await callToken(callback, bet, wallet) };
  } catch (error) {
    const { callbacks, message, transactionId } = callback;
    const { operation } = message;
    callbacks.logger.warn({ err: error, operation, transactionId }, 'bet.token_not_read');
    return { kind: 'unread' };
  }
}

function promiseOf(
  { callbacks, message }: PromisedCallback,
  { from, transactionTime }: NextState,
  state: 'live' | 'pending',
): NewDelivery {
  const { operation } = message;
  const promise = { operation, state, transactionTime };
  return newDelivery(callbacks.configuration(), ownerOf(from).operatorId, promise);
}
