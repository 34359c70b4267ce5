import { randomUUID } from 'node:crypto';
import type { Bet, BetOwner } from '../domain/bet.ts';
import type { Deadline } from '../domain/deadline.ts';
import { unreachable } from '../domain/unreachable.ts';
import { OutOfTime } from '../lib/within.ts';
import { type Answer, accepted } from '../protocol/answers.ts';
import type { BetRequest, PlaceRequest } from '../protocol/messages.ts';
import type { Commit, NewDelivery, OperationRecord } from '../store/bets/commit.ts';
import type { Handled } from './answers.ts';
import { done, UNAVAILABLE } from './answers.ts';
import { type Begun, inTime } from './attempt.ts';
import type { BetCallback } from './bet-callback.ts';
import type { Callbacks } from './callbacks.ts';
import { correctAnswer } from './correction.ts';
import { newDelivery } from './operator-settings.ts';

/** A request that may become a delivery. */
export type PromisableRequest = Exclude<BetRequest, PlaceRequest>;

/** The bet changed since it was read: read and decide again. */
export type Moved = { readonly kind: 'moved' };

/**
 * Commits a decision if the caller still has time.
 * @throws OutOfTime if it had none by PostgreSQL's clock: nothing was written
 * @throws GatewayError if the journal failed
 */
export async function commitInTime(
  { bets }: Callbacks,
  deadline: Deadline,
  commit: Commit,
): Promise<Begun | Moved> {
  const committed = await bets.commit(commit, deadline);
  switch (committed.kind) {
    case 'committed': {
      const { from, to } = commit;
      const { operationId } = committed;
      return { kind: 'begun', operationId, bet: { ...to, version: from.version + 1 } };
    }
    case 'moved':
      return committed;
    case 'tooLate':
      throw new OutOfTime(0);
    default:
      return unreachable(committed);
  }
}

/** A bet's next state, and the time in a 200 that does not wait for the wallet. */
export interface NextState {
  readonly from: Bet;
  readonly to: Bet;
  readonly transactionTime: string;
  /** Ids of the bet's deliveries that become obsolete. */
  readonly supersedes: readonly string[];
}

/**
 * Begins an attempt: commits the next state with the operation in flight and its promise, if it has one.
 * @throws OutOfTime, GatewayError as `commitInTime` does
 */
export async function beginAttempt(
  callback: BetCallback<BetRequest>,
  attemptId: string,
  { from, to, supersedes }: Omit<NextState, 'transactionTime'>,
  delivery: NewDelivery | undefined,
): Promise<Begun | Moved> {
  const { callbacks, deadline, message } = callback;
  return await commitInTime(callbacks, deadline, {
    from,
    to: { ...to, busy: { operation: message.operation, attemptId, lapsed: false } },
    record: recordOf(callback, attemptId, undefined),
    delivery,
    supersedes,
  });
}

/** Promises the operation without an attempt: answered 200 once that is committed (I3). */
export async function takeOver(
  callback: BetCallback<PromisableRequest>,
  next: NextState,
): Promise<Handled | 'moved'> {
  return await answerUnsent(callback, next, promiseOf(callback, next, 'pending'));
}

/** Records an operation that no wallet needs, and answers 200. */
export async function recordUnsent(
  callback: BetCallback<PromisableRequest>,
  next: NextState,
): Promise<Handled | 'moved'> {
  return await answerUnsent(callback, next, undefined);
}

/**
 * Commits an operation that is not sent now, with its promise if there is one, and answers 200.
 * @returns 'moved' if the bet changed since it was read
 * @throws OutOfTime, GatewayError as `commitInTime` does
 */
async function answerUnsent(
  callback: BetCallback<BetRequest>,
  next: NextState,
  delivery: NewDelivery | undefined,
): Promise<Handled | 'moved'> {
  const { callbacks, deadline, transactionId } = callback;
  const { from, to, transactionTime, supersedes } = next;
  const attemptId = randomUUID();
  const record = recordOf(callback, attemptId, accepted(transactionId, transactionTime));
  const committed = await inTime(
    deadline.answerMs(),
    () => commitInTime(callbacks, deadline, { from, to, record, delivery, supersedes }),
    async (late) => {
      if (late.kind === 'moved') return;
      // The decision is committed, but the service was answered 503 and will repeat it.
      const { operation } = callback.message;
      const answered = { transactionId, attemptId, operation, lateAnswer: UNAVAILABLE };
      await correctAnswer(callbacks, answered, Promise.resolve({ kind: 'committed' }));
    },
  );
  if (committed.kind === 'moved') return 'moved';
  const outcome = delivery === undefined ? 'not_sent' : 'taken_over';
  return done(transactionId, transactionTime, outcome, from.owner?.operatorId);
}

/** A callback's request for the journal. @param answer undefined if it depends on the attempt */
export function recordOf(
  { message, stored }: Pick<BetCallback<BetRequest>, 'message' | 'stored'>,
  attemptId: string,
  answer: Answer | undefined,
): OperationRecord {
  const { operation, requestId } = message;
  return { operation, attemptId, requestId, body: stored, answer };
}

/** @throws Error for a bet whose player is unknown: its operations are never sent */
export function ownerOf(bet: Bet): BetOwner {
  if (bet.owner === undefined) throw new Error(`bet ${bet.transactionId} belongs to nobody`);
  return bet.owner;
}

/** A callback's promise as a delivery with its operator's horizon. */
export function promiseOf(
  { callbacks, message }: BetCallback<PromisableRequest>,
  { from, transactionTime }: Pick<NextState, 'from' | 'transactionTime'>,
  state: NewDelivery['state'],
): NewDelivery {
  const { operation } = message;
  const settle =
    operation === 'settle'
      ? { settle: { amount: message.amount, resultType: message.resultType } }
      : {};
  const promise = { operation, state, transactionTime, ...settle };
  return newDelivery(callbacks.configuration(), ownerOf(from).operatorId, promise);
}
