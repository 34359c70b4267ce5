import { randomUUID } from 'node:crypto';
import type { Configuration } from '../config/schema.ts';
import { backoffMs } from '../domain/backoff.ts';
import { type Settlement, unknownAfter } from '../domain/bet.ts';
import type { Clock } from '../domain/clock.ts';
import { CODES } from '../domain/codes.ts';
import { Deadline } from '../domain/deadline.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { accepted } from '../protocol/answers.ts';
import { type BetRequest, parseBet } from '../protocol/messages.ts';
import { betToken } from '../sessions/bet-token.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { attemptOf } from '../store/attempt-of.ts';
import type { BetJournal, Outcome } from '../store/bet-journal.ts';
import type { TakenDelivery } from '../store/delivery-store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Wallet } from '../wallets/call.ts';
import { walletBody } from '../wallets/wallet-body.ts';
import {
  type Conclusion,
  confirmAgainInMs,
  rollbackConclusion,
  updateConclusion,
} from './conclusion.ts';
import { type DeliverySettings, deliverySettings } from './settings.ts';

export interface Delivering {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly configuration: () => Configuration;
  readonly sessions: Sessions;
  readonly bets: BetJournal;
}

/** What came of an attempt: `unsent` means that the operator takes no calls at the moment. */
export type Delivered = 'settled' | 'failed' | 'dead' | 'unsent';

/** An attempt that took its row longer ago than this is not begun: its lease may end on the way. */
export const START_WITHIN_MS = 5_000;

/**
 * Brings one taken delivery to its wallet: call, conclude, write down (I4). A process killed in
 * between costs a repeat after the lease; the protocol makes every delivery repeatable.
 * @param takenAtMs when its row was taken, on the monotonic clock
 * @throws GatewayError `DATABASE_UNAVAILABLE`: the outcome is lost, the lease ends, it is repeated
 */
export async function deliver(
  delivering: Delivering,
  wallet: Wallet,
  taken: TakenDelivery,
  takenAtMs: number,
): Promise<Delivered> {
  const { clock, metrics } = delivering;
  const { operatorId } = taken.owner;
  const settings = deliverySettings(delivering.configuration(), operatorId);
  const parsed = parseBet('PUT', taken.body);
  if (!parsed.ok) throw new Error(`delivery ${taken.id} holds no message: ${parsed.why}`);

  const startedAtMs = clock.nowMs();
  const sent =
    clock.monotonicMs() - takenAtMs > START_WITHIN_MS
      ? NOT_BEGUN
      : await call(delivering, wallet, taken, parsed.message);
  const conclusion = conclude(taken, sent);
  const after = deliveryAfter(taken, sent, conclusion, settings);
  await delivering.bets.finish({
    transactionId: taken.transactionId,
    attemptId: taken.attemptId,
    operationId: taken.operationId,
    attempt: attemptOf(sent, startedAtMs, undefined),
    settlement: settlementAfter(taken, parsed.message, sent),
    // A repetition changes nothing: the bet knows already how the first confirmation was answered.
    rollback: taken.confirmations === 0 ? conclusion?.rollback : undefined,
    update: conclusion?.update,
    delivery: after,
  });
  if (after.kind === 'unsent') return 'unsent';

  const result =
    sent.kind === 'unknown' ? sent.fault : sent.kind === 'notSent' ? sent.reason : sent.kind;
  metrics.deliveryAttempts.inc({ operator: operatorId, operation: taken.operation, result });
  logAttempt(delivering, taken, sent, after);
  switch (after.kind) {
    case 'delivered':
    case 'refused':
      metrics.deliveryLag.observe((clock.nowMs() - taken.createdAt.getTime()) / 1000);
      return 'settled';
    case 'again':
      if (taken.confirmations === 0) {
        metrics.deliveryLag.observe((clock.nowMs() - taken.createdAt.getTime()) / 1000);
      }
      return 'settled';
    case 'dead':
      return 'dead';
    case 'pending':
      return 'failed';
    case 'none':
    case 'new':
      throw new Error(`a delivery never ends as ${after.kind}`);
    default:
      return after satisfies never;
  }
}

const NOT_BEGUN: BetAnswer = {
  kind: 'notSent',
  reason: 'deadline',
  trace: { sent: false, latencyMs: 0, error: 'its turn came too late' },
};

async function call(
  delivering: Delivering,
  wallet: Wallet,
  taken: TakenDelivery,
  message: BetRequest,
): Promise<BetAnswer> {
  const { clock, sessions } = delivering;
  const { totalMs, reserveMs } = delivering.configuration().gateway.deadline;
  const { alwaysSendToken } = wallet.callerDialect;
  const needsToken = alwaysSendToken || message.token !== undefined;
  const token = needsToken ? await betToken(sessions, taken, message.token) : undefined;
  return await wallet.bet({
    operation: taken.operation,
    method: 'PUT',
    body: walletBody(message.document, taken.owner.operatorUser, token, alwaysSendToken),
    transactionId: taken.transactionId,
    requestId: message.requestId ?? randomUUID(),
    deadline: new Deadline(clock, clock.monotonicMs(), totalMs, reserveMs),
  });
}

/** Whatever the wallet says, the service keeps the answer that the promise was given with. */
function conclude(taken: TakenDelivery, sent: BetAnswer): Conclusion | undefined {
  const { transactionTime } = taken;
  switch (taken.operation) {
    case 'rollback': {
      const conclusion = rollbackConclusion(taken.transactionId, taken.transactionTime, sent);
      return conclusion && { ...conclusion, rollback: { kind: 'confirmed', transactionTime } };
    }
    case 'update':
      return updateConclusion(taken.transactionId, taken.transactionTime, undefined, sent);
    case 'settle':
    case 'unsettle':
      return resultConclusion(taken, sent);
    default:
      return taken.operation satisfies never;
  }
}

/** A taken-over result is confirmed by 200 alone; a repetition for certainty ends with any answer. */
function resultConclusion(taken: TakenDelivery, sent: BetAnswer): Conclusion | undefined {
  const answer = accepted(taken.transactionId, taken.transactionTime);
  if (sent.kind === 'accepted') return { answer, word: 'accepted', delivery: 'delivered' };
  const definite = sent.kind === 'declined' && sent.code !== CODES.system;
  return taken.purpose === 'confirm' && definite
    ? { answer, word: 'declined', delivery: 'refused' }
    : undefined;
}

/** The bet's result after this attempt; undefined where it has not changed. */
function settlementAfter(
  { transactionTime }: TakenDelivery,
  message: BetRequest,
  sent: BetAnswer,
): Settlement | undefined {
  if (message.operation !== 'settle' && message.operation !== 'unsettle') return undefined;
  if (sent.kind === 'accepted') {
    if (message.operation === 'unsettle') return { kind: 'unsettled', transactionTime };
    const { amount, resultType } = message;
    return { kind: 'settled', amount, resultType, transactionTime };
  }
  const unknown =
    sent.kind === 'unknown' || (sent.kind === 'declined' && sent.code === CODES.system);
  if (!unknown) return undefined;
  return unknownAfter(
    { kind: 'none' },
    message.operation === 'unsettle'
      ? { kind: 'unsettle' }
      : { kind: 'settle', amount: message.amount, resultType: message.resultType },
  );
}

function deliveryAfter(
  taken: TakenDelivery,
  sent: BetAnswer,
  conclusion: Conclusion | undefined,
  settings: DeliverySettings,
): Outcome['delivery'] {
  if (conclusion !== undefined) {
    const again = confirmAgainInMs(taken.placeUnknown, conclusion, taken.confirmations, settings);
    return again === undefined
      ? { kind: conclusion.delivery }
      : { kind: 'again', retryInMs: again };
  }
  // Held, or its turn came too late: nothing was tried, so nothing is spent.
  if (sent.kind === 'notSent' && sent.reason !== 'connection') {
    return { kind: 'unsent', retryInMs: 0 };
  }
  if (taken.overdue) return { kind: 'dead' };
  return { kind: 'pending', retryInMs: backoffMs(taken.attempts, settings, Math.random()) };
}

/** One wide line per attempt; a death is an alarm. */
function logAttempt(
  delivering: Delivering,
  taken: TakenDelivery,
  sent: BetAnswer,
  after: Outcome['delivery'],
): void {
  const facts = {
    operator: taken.owner.operatorId,
    operation: taken.operation,
    transactionId: taken.transactionId,
    delivery: taken.id,
    attempt: taken.attempts,
    state: after.kind,
    result: sent.kind,
    status: sent.trace.status,
    code: sent.trace.code,
    error: sent.trace.error,
    latencyMs: Math.round(sent.trace.latencyMs),
    ageMs: delivering.clock.nowMs() - taken.createdAt.getTime(),
    retryInMs: 'retryInMs' in after ? after.retryInMs : undefined,
  };
  if (after.kind === 'dead')
    delivering.logger.error(facts, 'delivery.dead: a person has to decide');
  else delivering.logger.info(facts, 'delivery.attempted');
}
