import { randomUUID } from 'node:crypto';
import { type Conclusion, confirmAgainInMs } from '../deliveries/conclusion.ts';
import {
  type DeliverySettings,
  deliverySettings,
  isOfOlderWallet,
} from '../deliveries/settings.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { Bet } from '../domain/bet.ts';
import type { Deadline } from '../domain/deadline.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { within } from '../lib/within.ts';
import { type Answer, accepted } from '../protocol/answers.ts';
import type { RollbackRequest, UpdateRequest } from '../protocol/messages.ts';
import { betToken } from '../sessions/bet-token.ts';
import { attemptOf } from '../store/bets/attempt-of.ts';
import type { NewDelivery, Outcome } from '../store/bets/journal.ts';
import type { Wallet } from '../wallets/call.ts';
import { walletBody } from '../wallets/wallet-body.ts';
import { done } from './answers.ts';
import type { Callbacks, Handled } from './context.ts';

/** A rollback or an update on its way through its callback. */
export interface Promised {
  readonly callbacks: Callbacks;
  readonly message: RollbackRequest | UpdateRequest;
  readonly raw: Buffer;
  readonly deadline: Deadline;
}

/** The bet as it will stand, and what the service is told of when. */
export interface NextState {
  readonly bet: Bet;
  readonly transactionTime: string;
}

/**
 * Takes the operation over without trying it: a delivery from now on, answered 200 once that is
 * committed (I3).
 */
export async function promise(
  context: Promised,
  bet: Bet,
  next: NextState,
  supersedes: readonly string[],
): Promise<Handled | 'moved'> {
  const { callbacks, message, deadline } = context;
  const committed = await within(
    deadline.answerMs(),
    callbacks.bets.commit({
      from: bet,
      to: next.bet,
      record: record(context, randomUUID(), accepted(bet.transactionId, next.transactionTime)),
      delivery: delivery(context, bet, next, 'pending'),
      supersedes,
    }),
  );
  if (committed === undefined) return 'moved';
  return done(message.transactionId, next.transactionTime, 'taken_over', bet.owner?.operatorId);
}

/** Records an operation that no wallet needs to hear of, and answers 200. */
export async function recordUnsent(
  context: Promised,
  bet: Bet,
  next: NextState,
  supersedes: readonly string[],
): Promise<Handled | 'moved'> {
  const { callbacks, message, deadline } = context;
  const committed = await within(
    deadline.answerMs(),
    callbacks.bets.commit({
      from: bet,
      to: next.bet,
      record: record(context, randomUUID(), accepted(bet.transactionId, next.transactionTime)),
      delivery: undefined,
      supersedes,
    }),
  );
  if (committed === undefined) return 'moved';
  return done(message.transactionId, next.transactionTime, 'not_sent', bet.owner?.operatorId);
}

/**
 * Promises first, tries second: the delivery is committed together with the intent, so that a
 * process killed anywhere on the way loses nothing; it disappears again when the wallet confirms
 * within the deadline.
 */
export async function sendPromised(
  context: Promised,
  bet: Bet,
  next: NextState,
  supersedes: readonly string[],
  conclude: (sent: BetAnswer) => Conclusion | undefined,
): Promise<Handled | 'moved'> {
  const { callbacks, message, deadline } = context;
  const owner = ownerOf(bet);
  const wallet = callbacks.wallets.get(owner.operatorId);
  if (
    wallet === undefined ||
    isOfOlderWallet(callbacks.configuration(), bet) ||
    !sendable(wallet, message.operation, deadline)
  ) {
    return await promise(context, bet, next, supersedes);
  }
  // The time of the answer, not the wallet's: a call that comes too late for the wallet is not
  // sent, and the promise then stands for it.
  const token = await within(deadline.answerMs(), betToken(callbacks.sessions, bet, message.token));
  const attemptId = randomUUID();
  const operationId = await within(
    deadline.answerMs(),
    callbacks.bets.commit({
      from: bet,
      to: { ...next.bet, busy: { operation: message.operation, attemptId, lapsed: false } },
      record: record(context, attemptId, undefined),
      delivery: delivery(context, bet, next, 'live'),
      supersedes,
    }),
  );
  if (operationId === undefined) return 'moved';

  const startedAtMs = callbacks.clock.nowMs();
  const sent = await wallet.bet({
    operation: message.operation,
    method: 'PUT',
    body: walletBody(
      message.document,
      owner.operatorUser,
      token,
      wallet.callerDialect.alwaysSendToken,
    ),
    transactionId: message.transactionId,
    requestId: message.requestId ?? attemptId,
    deadline,
  });
  const conclusion = conclude(sent);
  const settings = deliverySettings(callbacks.configuration(), owner.operatorId);
  const answer = conclusion?.answer ?? accepted(message.transactionId, next.transactionTime);
  await recordQuietly(context, owner.operatorId, {
    transactionId: message.transactionId,
    attemptId,
    operationId,
    attempt: attemptOf(sent, startedAtMs, answer),
    rollback: conclusion?.rollback,
    update: conclusion?.update,
    delivery: deliveryAfter(settings, bet, sent, conclusion),
  });
  return {
    answer,
    outcome: conclusion?.word ?? 'taken_over',
    operatorId: owner.operatorId,
    detail: { walletMs: Math.round(sent.trace.latencyMs), code: sent.trace.code },
  };
}

/** The promise is committed: an outcome that cannot be written costs a repeat, not the answer. */
async function recordQuietly(
  context: Promised,
  operatorId: string,
  outcome: Outcome,
): Promise<void> {
  const { callbacks, message, deadline } = context;
  try {
    await within(deadline.answerMs(), callbacks.bets.finish(outcome));
  } catch (error) {
    callbacks.logger.error(
      { err: error, operator: operatorId, transactionId: message.transactionId },
      'bet.outcome_not_recorded: its delivery will repeat it',
    );
  } finally {
    callbacks.watch.changed(message.transactionId);
  }
}

function sendable(wallet: Wallet, operation: 'rollback' | 'update', deadline: Deadline): boolean {
  return wallet.refusal(operation) === undefined && deadline.allowsWalletCall();
}

function record(context: Promised, attemptId: string, answer: Answer | undefined) {
  const { message, raw } = context;
  return {
    operation: message.operation,
    attemptId,
    requestId: message.requestId,
    body: raw,
    answer,
  };
}

function delivery(
  context: Promised,
  bet: Bet,
  next: NextState,
  state: NewDelivery['state'],
): NewDelivery {
  const { operatorId } = ownerOf(bet);
  return {
    operation: context.message.operation,
    state,
    transactionTime: next.transactionTime,
    horizonMs:
      deliverySettings(context.callbacks.configuration(), operatorId).horizonHours * 3_600_000,
  };
}

/** What becomes of the delivery that guarded a live attempt. */
function deliveryAfter(
  settings: DeliverySettings,
  bet: Bet,
  sent: BetAnswer,
  conclusion: Conclusion | undefined,
): Outcome['delivery'] {
  if (conclusion !== undefined) {
    const again = confirmAgainInMs(bet.place.kind === 'unknown', conclusion, 0, settings);
    return again === undefined
      ? { kind: conclusion.delivery }
      : { kind: 'again', retryInMs: again };
  }
  // What was not sent spent no attempt: it is due as soon as the operator takes calls.
  if (sent.kind === 'notSent' && sent.reason !== 'connection') {
    return { kind: 'unsent', retryInMs: 0 };
  }
  return { kind: 'pending', retryInMs: backoffMs(1, settings, Math.random()) };
}

function ownerOf(bet: Bet) {
  if (bet.owner === undefined) throw new Error(`bet ${bet.transactionId} belongs to nobody`);
  return bet.owner;
}
