import { randomUUID } from 'node:crypto';
import { type FirstRequest, firstRequest } from '../deliveries/first-request.ts';
import { deliverySettings, isOfOlderWallet } from '../deliveries/settings.ts';
import { backoffMs } from '../domain/backoff.ts';
import {
  type AttemptedResult,
  type Bet,
  type BetOwner,
  mayBeOvertaken,
  type Settlement,
  unknownAfter,
} from '../domain/bet.ts';
import { CODES } from '../domain/codes.ts';
import type { Deadline } from '../domain/deadline.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { within } from '../lib/within.ts';
import { type Answer, accepted, failure, isoTime } from '../protocol/answers.ts';
import type { SettleRequest, UnsettleRequest } from '../protocol/messages.ts';
import { betToken } from '../sessions/bet-token.ts';
import { attemptOf } from '../store/bets/attempt-of.ts';
import type { NewDelivery, Outcome } from '../store/bets/journal.ts';
import type { Wallet } from '../wallets/call.ts';
import { walletBody } from '../wallets/wallet-body.ts';
import { done, unavailable } from './answers.ts';
import type { Callbacks, Handled } from './context.ts';

/** What settle and unsettle have in common, and where they differ. */
export interface ResultStory {
  readonly callbacks: Callbacks;
  readonly message: SettleRequest | UnsettleRequest;
  readonly raw: Buffer;
  readonly deadline: Deadline;
  /** What a wallet may have taken when it leaves this operation without an answer. */
  readonly attempted: AttemptedResult;
  /** The bet's result once a wallet has accepted this operation. */
  readonly settlement: (transactionTime: string) => Settlement;
  /** Codes by which a wallet says no more than that it did not take the operation. */
  readonly notBrought: readonly number[];
}

/** What came of one attempt: what is kept, and what the service is told. */
interface Result {
  readonly settlement: Settlement | undefined;
  /** Undefined: not brought; 503, or a delivery where the operator's settles are queued. */
  readonly answer: Answer | undefined;
  readonly word: 'accepted' | 'declined' | 'unknown' | 'not_sent';
}

/**
 * Brings a settle or unsettle to the wallet: intent, call, outcome, answer. While an outcome is
 * unknown so is the bet's state, and nothing is answered from memory.
 *
 * @param cashoutToken the live session's operator token, for a cashout
 * @param mayQueue whether what cannot be brought becomes a delivery and is answered 200
 * @returns 'moved' when the bet changed since it was read
 */
export async function sendResult(
  story: ResultStory,
  bet: Bet,
  cashoutToken: string | undefined,
  mayQueue: boolean,
): Promise<Handled | 'moved'> {
  const { callbacks, message, deadline } = story;
  const owner = ownerOf(bet);
  const wallet = callbacks.wallets.get(owner.operatorId);
  const reason = isOfOlderWallet(callbacks.configuration(), bet)
    ? 'maintenance'
    : (wallet?.refusal(message.operation) ??
      (deadline.allowsWalletCall() ? undefined : 'deadline'));
  if (wallet === undefined || reason !== undefined) {
    if (mayQueue) {
      return await takeOverResult(story, bet, bet, isoTime(callbacks.clock.nowMs()), []);
    }
    callbacks.metrics.rejected.inc({
      operator: owner.operatorId,
      reason: reason ?? 'maintenance',
    });
    return unavailable('not_sent', owner.operatorId, { reason: reason ?? 'maintenance' });
  }
  // Before the commit, which finds out whether another operation has come in between.
  const first = wallet.callerDialect.stableRequestId
    ? await within(deadline.walletMs(), firstRequest(callbacks.bets, message))
    : undefined;
  const body = await bodyFor(story, bet, owner, wallet, { cashoutToken, first });
  const attemptId = randomUUID();
  const operationId = await within(
    deadline.walletMs(),
    callbacks.bets.commit({
      from: bet,
      to: { ...bet, busy: { operation: message.operation, attemptId, lapsed: false } },
      record: record(story, attemptId, undefined),
      delivery: undefined,
      supersedes: [],
    }),
  );
  if (operationId === undefined) return 'moved';

  const startedAtMs = callbacks.clock.nowMs();
  const sent = await wallet.bet({
    operation: message.operation,
    method: 'PUT',
    body,
    transactionId: message.transactionId,
    requestId: first?.requestId ?? message.requestId ?? attemptId,
    deadline,
  });
  const result = resultOf(story, bet, sent);
  if (result.word === 'unknown') {
    callbacks.metrics.unknownOutcomes.inc({
      operator: owner.operatorId,
      operation: message.operation,
    });
  }
  const takenOver =
    result.answer === undefined && mayQueue ? isoTime(callbacks.clock.nowMs()) : undefined;
  const answer =
    result.answer ??
    (takenOver === undefined ? NOT_BROUGHT : accepted(message.transactionId, takenOver));
  await finish(story, {
    transactionId: message.transactionId,
    attemptId,
    operationId,
    attempt: attemptOf(sent, startedAtMs, answer),
    settlement: result.settlement,
    delivery: deliveryAfter(story, bet, owner, sent, takenOver),
  });
  return {
    answer,
    outcome: takenOver === undefined ? result.word : 'taken_over',
    operatorId: owner.operatorId,
    detail: { walletMs: Math.round(sent.trace.latencyMs), code: sent.trace.code },
  };
}

/** What has to be brought later: the operation itself, or its confirmation over a lost one. */
function deliveryAfter(
  story: ResultStory,
  bet: Bet,
  owner: BetOwner,
  sent: BetAnswer,
  takenOver: string | undefined,
): Outcome['delivery'] {
  const settings = deliverySettings(story.callbacks.configuration(), owner.operatorId);
  if (takenOver !== undefined) {
    const retryInMs = sent.kind === 'notSent' ? 0 : backoffMs(1, settings, Math.random());
    return { kind: 'new', delivery: delivery(story, owner, takenOver), retryInMs };
  }
  if (sent.kind === 'accepted' && mayBeOvertaken(bet.settlement, story.attempted)) {
    const again = delivery(story, owner, sent.transactionTime);
    return {
      kind: 'new',
      delivery: { ...again, purpose: 'confirm' },
      retryInMs: settings.confirmUnknownAfterMs,
    };
  }
  return { kind: 'none' };
}

const NOT_BROUGHT = failure(CODES.system, 'System error', 503);

/** Only what is committed is answered: a failure here leaves the state unknown, and the service repeats. */
async function finish(story: ResultStory, outcome: Outcome): Promise<void> {
  const { callbacks, deadline } = story;
  try {
    await within(deadline.answerMs(), callbacks.bets.finish(outcome));
  } finally {
    callbacks.watch.changed(outcome.transactionId);
  }
}

function resultOf(story: ResultStory, bet: Bet, sent: BetAnswer): Result {
  const { transactionId } = story.message;
  const unknown = unknownAfter(bet.settlement, story.attempted);
  switch (sent.kind) {
    case 'accepted':
      return {
        settlement: story.settlement(sent.transactionTime),
        answer: accepted(transactionId, sent.transactionTime),
        word: 'accepted',
      };
    case 'declined':
      if (!story.notBrought.includes(sent.code)) {
        return {
          settlement: undefined,
          answer: failure(sent.code, sent.message),
          word: 'declined',
        };
      }
      // A system error may come after the money moved; a wrong signature or token cannot.
      return sent.code === CODES.system
        ? { settlement: unknown, answer: undefined, word: 'unknown' }
        : { settlement: undefined, answer: undefined, word: 'not_sent' };
    case 'notSent':
      return { settlement: undefined, answer: undefined, word: 'not_sent' };
    case 'unknown':
      return { settlement: unknown, answer: undefined, word: 'unknown' };
    default:
      return unreachable(sent);
  }
}

/** Commits the operation as a delivery behind or in place of what waits, and answers 200. */
export async function takeOverResult(
  story: ResultStory,
  from: Bet,
  to: Bet,
  transactionTime: string,
  supersedes: readonly string[],
): Promise<Handled | 'moved'> {
  const owner = ownerOf(from);
  return await answerUnsent(story, {
    from,
    to,
    transactionTime,
    supersedes,
    delivery: delivery(story, owner, transactionTime),
    word: 'taken_over',
  });
}

/** An unsettle of a settle that no wallet has seen: both are off, and the bet waits for a result. */
export async function cancelQueued(
  story: ResultStory,
  bet: Bet,
  transactionTime: string,
  supersedes: readonly string[],
): Promise<Handled | 'moved'> {
  return await answerUnsent(story, {
    from: bet,
    to: { ...bet, settlement: story.settlement(transactionTime) },
    transactionTime,
    supersedes,
    delivery: undefined,
    word: 'not_sent',
  });
}

async function answerUnsent(
  story: ResultStory,
  change: {
    readonly from: Bet;
    readonly to: Bet;
    readonly transactionTime: string;
    readonly supersedes: readonly string[];
    readonly delivery: NewDelivery | undefined;
    readonly word: 'taken_over' | 'not_sent';
  },
): Promise<Handled | 'moved'> {
  const { callbacks, message, deadline } = story;
  const { from, to, transactionTime, supersedes } = change;
  const committed = await within(
    deadline.answerMs(),
    callbacks.bets.commit({
      from,
      to,
      record: record(story, randomUUID(), accepted(from.transactionId, transactionTime)),
      delivery: change.delivery,
      supersedes,
    }),
  );
  if (committed === undefined) return 'moved';
  return done(message.transactionId, transactionTime, change.word, from.owner?.operatorId);
}

async function bodyFor(
  story: ResultStory,
  bet: Bet,
  owner: BetOwner,
  wallet: Wallet,
  { cashoutToken, first }: { cashoutToken: string | undefined; first: FirstRequest | undefined },
): Promise<string> {
  const { callbacks, message, deadline } = story;
  const { alwaysSendToken } = wallet.callerDialect;
  const needsToken = alwaysSendToken || message.token !== undefined;
  const token =
    cashoutToken ??
    (needsToken
      ? await within(deadline.walletMs(), betToken(callbacks.sessions, bet, message.token))
      : undefined);
  return walletBody(message.document, owner.operatorUser, token, alwaysSendToken, first);
}

function record(story: ResultStory, attemptId: string, answer: Answer | undefined) {
  const { message, raw } = story;
  return {
    operation: message.operation,
    attemptId,
    requestId: message.requestId,
    body: raw,
    answer,
  };
}

function delivery(story: ResultStory, owner: BetOwner, transactionTime: string): NewDelivery {
  const { callbacks, message } = story;
  const horizonMs =
    deliverySettings(callbacks.configuration(), owner.operatorId).horizonHours * 3_600_000;
  const { operation } = message;
  if (operation === 'unsettle') return { operation, state: 'pending', transactionTime, horizonMs };
  const settle = { amount: message.amount, resultType: message.resultType };
  return { operation, state: 'pending', transactionTime, horizonMs, settle };
}

function ownerOf(bet: Bet): BetOwner {
  if (bet.owner === undefined) throw new Error(`bet ${bet.transactionId} belongs to nobody`);
  return bet.owner;
}
