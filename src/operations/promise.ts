import { randomUUID } from 'node:crypto';
import { backoffMs } from '../domain/backoff.ts';
import type { Bet } from '../domain/bet.ts';
import type { Conclusion } from '../domain/conclude.ts';
import { type AfterAttempt, afterAttempt } from '../domain/delivery.ts';
import { contradiction, sentTerms } from '../domain/terms.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { within } from '../lib/within.ts';
import { accepted } from '../protocol/answers.ts';
import type { RollbackRequest, UpdateRequest } from '../protocol/messages.ts';
import type { TakenDelivery } from '../store/deliveries/claim-statements.ts';
import type { Wallet } from '../wallets/call.ts';
import { answerFor, countConflict, detailOf, done, type Handled } from './answers.ts';
import { type Concluded, runAttempt } from './attempt.ts';
import type { BetCallback } from './bet-callback.ts';
import {
  attemptToCall,
  type Companions,
  callableWallet,
  companionsOf,
  UNREAD,
} from './call-wallet.ts';
import { beginAttempt, type NextState, ownerOf, promiseOf, takeOver } from './commit.ts';
import type { Engine } from './engine.ts';
import { deliverySettings } from './operator-settings.ts';

// What a rollback and an update share: they are promised before they are sent, and what contradicts the bet is repaired.

export type PromisedCallback = BetCallback<RollbackRequest> | BetCallback<UpdateRequest>;

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
  const { operation } = message;
  const { from, transactionTime } = next;
  const owner = ownerOf(from);
  const { operatorId } = owner;
  const callable = callableWallet(callbacks, from, operation, deadline);
  if ('refusal' in callable) return await takeOver(callback, next);
  const { wallet } = callable;
  const attemptId = randomUUID();
  // Read in parallel with committing the promise, which does not need it.
  const companions = findCompanions(callback, from, wallet, attemptId);
  const hadResult = from.settlement.kind !== 'none';
  const request = { message, attemptId, owner, books: from, terms: from, hadResult };
  const promised = { ...FIRST_ATTEMPT, operation, owner, transactionId, transactionTime };
  const attempt = attemptToCall(
    callbacks,
    wallet,
    request,
    deadline,
    () => companions,
    (sent) => concludePromised(callbacks, wallet, promised, sent, () => conclude(sent)),
  );
  // Committed by the answer's deadline, not the wallet's: if there is no time left for the call by then, the
  // promise alone is the answer.
  const attempted = await runAttempt(
    callbacks,
    attempt,
    () => beginAttempt(callback, attemptId, next, promiseOf(callback, next, 'live')),
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

/** A promise as an attempt finds it: just committed by its callback, or claimed by a worker. */
export interface Promised
  extends Pick<
    TakenDelivery,
    | 'operation'
    | 'purpose'
    | 'owner'
    | 'transactionId'
    | 'transactionTime'
    | 'attempts'
    | 'isOverdue'
  > {
  /** Whether the attempt is already counted: a worker counts it when claiming, a callback does not. */
  readonly isCounted: boolean;
}

const FIRST_ATTEMPT = {
  purpose: 'promise',
  attempts: 1,
  isOverdue: false,
  isCounted: false,
} as const;

/**
 * What an attempt of a promise means, whether its caller still waits or was answered long ago.
 * @param conclude what it means for the bet
 */
export function concludePromised(
  { configuration }: Engine,
  wallet: Wallet,
  promised: Promised,
  sent: BetAnswer,
  conclude: (after: AfterAttempt) => Conclusion,
): Concluded {
  const { operation, purpose, owner, attempts, isOverdue, isCounted } = promised;
  const { transactionId, transactionTime } = promised;
  const settings = deliverySettings(configuration(), owner.operatorId);
  const retryInMs = backoffMs(attempts, settings, Math.random());
  const holdsRepeats = wallet.callerDialect.holdUnknownRepeats;
  const after = afterAttempt({ operation, purpose, isOverdue, retryInMs, holdsRepeats }, sent);
  const conclusion = conclude(after);
  const promise = accepted(transactionId, transactionTime);
  return {
    conclusion,
    delivery: { kind: 'after', after, purpose, promisedTime: transactionTime, isCounted },
    answer: answerFor(transactionId, conclusion.answer) ?? promise,
    lateAnswer: promise,
    promisedTime: transactionTime,
  };
}

/**
 * What goes with the call. If it cannot be read, nothing is sent, the promise stands, and its delivery reads it again.
 * Never rejects.
 */
async function findCompanions(
  { callbacks, message, deadline, transactionId }: PromisedCallback,
  bet: Bet,
  wallet: Wallet,
  attemptId: string,
): Promise<Companions | BetAnswer> {
  try {
    const found = companionsOf(callbacks, wallet, message, bet, { attemptId }, undefined);
    return await within(deadline.walletMs(), found);
  } catch (error) {
    const { operation } = message;
    callbacks.logger.warn({ err: error, operation, transactionId }, 'bet.token_not_read');
    return UNREAD;
  }
}

/**
 * Counts and logs how a rollback or update contradicts its bet, and which of its members are left out or taken from the
 * journal. The same callback reads its bet again whenever it moves, so only the first call counts.
 * @returns to be called with the bet, or with undefined if neither the bet nor its player is known
 */
export function noteOfRepairs(callback: PromisedCallback): (bet: Bet | undefined) => void {
  let isNoted = false;
  return (bet) => {
    if (isNoted) return;
    isNoted = true;
    const { callbacks, message, transactionId } = callback;
    const { operation } = message;
    const operatorId = bet?.owner?.operatorId;
    const why = bet && contradiction(operation, bet, message);
    if (why !== undefined) countConflict(callbacks, { operation, operatorId, transactionId }, why);
    const members = repairedMembers(callback, bet);
    if (members.length === 0) return;
    callbacks.metrics.repairedCallbacks.inc({ operator: operatorId ?? 'unknown', operation });
    const facts = { operator: operatorId, operation, transactionId, members };
    callbacks.logger.warn(facts, 'bet.members_repaired');
  };
}

/** The names of members that are odd, and of missing ones that the journal has. */
function repairedMembers({ message }: PromisedCallback, bet: Bet | undefined): readonly string[] {
  const members = new Set(Object.keys(message.repairs));
  if (bet === undefined) return [...members];
  const { amount, currency } = sentTerms(message.operation, bet, message);
  if (message.userId === undefined) members.add('userId');
  if (message.amount === undefined && amount !== undefined) members.add('amount');
  if (message.currency === undefined && currency !== undefined) members.add('currency');
  return [...members];
}
