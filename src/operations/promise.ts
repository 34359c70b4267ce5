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

// Rollbacks and updates: promised before they are sent, with contradictions to the bet repaired.

export type PromisedCallback = BetCallback<RollbackRequest> | BetCallback<UpdateRequest>;

/**
 * The delivery is committed together with the intent, so that a killed process loses nothing, and deleted if the wallet
 * confirms in time. If the outcome cannot be recorded, the delivery repeats the call, and the promise is the answer.
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
  // In parallel with committing the promise, which does not need it.
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
  // The commit may take until the answer's deadline: without time for the call, the promise alone is the answer.
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

/** A promise that its callback has just committed or a worker has claimed. */
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
  /** A worker counts the attempt when it claims it, a callback does not. */
  readonly isCounted: boolean;
}

const FIRST_ATTEMPT = {
  purpose: 'promise',
  attempts: 1,
  isOverdue: false,
  isCounted: false,
} as const;

/** What an attempt at a promise means, with or without a waiting caller. @param conclude what it means for the bet */
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

/** Never rejects: if it cannot be read, nothing is sent, and the promise's delivery reads it again. */
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
 * Counts and logs contradictions and repaired members on the first call: a callback reads its bet again after each
 * change.
 * @returns to be called with the bet, or undefined if neither the bet nor its player is known
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

/** Names of invalid members, and of missing ones that the journal has. */
function repairedMembers({ message }: PromisedCallback, bet: Bet | undefined): readonly string[] {
  const members = new Set(Object.keys(message.repairs));
  if (bet === undefined) return [...members];
  const { amount, currency } = sentTerms(message.operation, bet, message);
  if (message.userId === undefined) members.add('userId');
  if (message.amount === undefined && amount !== undefined) members.add('amount');
  if (message.currency === undefined && currency !== undefined) members.add('currency');
  return [...members];
}
