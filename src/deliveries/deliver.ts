import { randomUUID } from 'node:crypto';
import type { Configuration } from '../config/schema.ts';
import { backoffMs } from '../domain/backoff.ts';
import { type Settlement, unknownAfter } from '../domain/bet.ts';
import type { Clock } from '../domain/clock.ts';
import { CODES } from '../domain/codes.ts';
import { Deadline } from '../domain/deadline.ts';
import { GatewayError } from '../domain/errors.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { accepted } from '../protocol/answers.ts';
import { type BetRequest, parseBet } from '../protocol/messages.ts';
import { betToken } from '../sessions/bet-token.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { attemptOf } from '../store/bets/attempt-of.ts';
import type { BetJournal, Outcome } from '../store/bets/journal.ts';
import type { TakenDelivery } from '../store/deliveries/queue.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Wallet } from '../wallets/call.ts';
import { walletBody } from '../wallets/wallet-body.ts';
import {
  type Conclusion,
  confirmAgainInMs,
  rollbackConclusion,
  updateConclusion,
} from './conclusion.ts';
import { firstRequest } from './first-request.ts';
import { type DeliverySettings, deliverySettings } from './settings.ts';

export interface Delivering {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly configuration: () => Configuration;
  readonly sessions: Sessions;
  readonly bets: BetJournal;
  readonly tracing: Tracing;
}

/** An attempt that took its row longer ago than this is not begun: its lease may end on the way. */
const START_WITHIN_MS = 5_000;

/** One try at bringing a delivery to its wallet, not yet written down. */
export interface Tried {
  readonly taken: TakenDelivery;
  readonly sent: BetAnswer;
  readonly outcome: Outcome;
}

/**
 * Tries to bring one taken delivery to its wallet. A process killed before the outcome is recorded
 * costs a repeat after the lease; the protocol makes every delivery repeatable (I4).
 * @param takenAtMs when its row was taken, on the monotonic clock
 * @returns never rejects: what cannot even be sent counts as a failed attempt, so that a poison
 *   message ends as a dead letter and nothing else suffers from it
 */
export async function tryDelivery(
  delivering: Delivering,
  wallet: Wallet,
  taken: TakenDelivery,
  takenAtMs: number,
): Promise<Tried> {
  const { clock } = delivering;
  const startedAtMs = clock.nowMs();
  const parsed = parseBet('PUT', taken.body);
  const message = parsed.ok ? parsed.message : undefined;
  if (clock.monotonicMs() - takenAtMs > START_WITHIN_MS) {
    return triedOf(delivering, taken, message, NOT_BEGUN, startedAtMs);
  }
  const sent = parsed.ok
    ? await traced(delivering, taken, () => call(delivering, wallet, taken, parsed.message))
    : unsendable(`it holds no message: ${parsed.why}`);
  return triedOf(delivering, taken, message, sent, startedAtMs);
}

const NOT_BEGUN: BetAnswer = {
  kind: 'notSent',
  reason: 'deadline',
  trace: { sent: false, latencyMs: 0, error: 'its turn came too late' },
};

function unsendable(error: string): BetAnswer {
  return { kind: 'unknown', fault: 'bad_answer', trace: { sent: false, latencyMs: 0, error } };
}

function triedOf(
  delivering: Delivering,
  taken: TakenDelivery,
  message: BetRequest | undefined,
  sent: BetAnswer,
  startedAtMs: number,
): Tried {
  const settings = deliverySettings(delivering.configuration(), taken.owner.operatorId);
  const conclusion = conclude(taken, sent);
  return {
    taken,
    sent,
    outcome: {
      transactionId: taken.transactionId,
      attemptId: taken.attemptId,
      operationId: taken.operationId,
      attempt: attemptOf(sent, startedAtMs, undefined),
      settlement: message === undefined ? undefined : settlementAfter(taken, message, sent),
      // A repetition changes nothing: the bet knows already how the first confirmation was answered.
      rollback: taken.confirmations === 0 ? conclusion?.rollback : undefined,
      update: conclusion?.update,
      delivery: deliveryAfter(taken, sent, conclusion, settings),
    },
  };
}

/**
 * Writes down what a try has brought, counts it and logs it. An outcome that cannot be written is
 * lost: the lease ends and the delivery is repeated.
 */
export async function record(delivering: Delivering, tried: Tried): Promise<void> {
  const { taken, sent, outcome } = tried;
  const operator = taken.owner.operatorId;
  try {
    await delivering.bets.finish(outcome);
  } catch (error) {
    const level = error instanceof GatewayError ? 'warn' : 'error';
    const facts = { err: error, operator, delivery: taken.id };
    delivering.logger[level](facts, 'delivery.not_recorded: it is repeated when its lease ends');
    return;
  }
  const { kind } = outcome.delivery;
  if (kind === 'unsent') return;
  const { clock, metrics } = delivering;
  metrics.deliveryAttempts.inc({ operator, operation: taken.operation, result: resultOf(sent) });
  // Of what is confirmed again and again, the first confirmation counts.
  const isHome = kind === 'delivered' || kind === 'refused' || kind === 'again';
  if (isHome && taken.confirmations === 0) {
    metrics.deliveryLag.observe((clock.nowMs() - taken.createdAt.getTime()) / 1000);
  }
  logAttempt(delivering, taken, sent, outcome.delivery);
}

/** A delivery's attempt is a trace of its own: its callback was answered long ago. */
function traced(
  { tracing }: Delivering,
  taken: TakenDelivery,
  work: () => Promise<BetAnswer>,
): Promise<BetAnswer> {
  if (!tracing.isOn) return work();
  const { operation, transactionId, attempts: attempt } = taken;
  const facts = { operator: taken.owner.operatorId, operation, transactionId, attempt };
  return tracing.span(
    { name: `delivery ${operation}`, kind: 'internal', facts: { ...facts, delivery: taken.id } },
    async (span) => {
      const sent = await work();
      span.set({ result: sent.kind });
      if (sent.kind === 'unknown' || sent.kind === 'notSent') span.fail(resultOf(sent));
      return sent;
    },
  );
}

async function call(
  delivering: Delivering,
  wallet: Wallet,
  taken: TakenDelivery,
  message: BetRequest,
): Promise<BetAnswer> {
  const { clock } = delivering;
  const { totalMs, reserveMs } = delivering.configuration().gateway.deadline;
  const { alwaysSendToken, stableRequestId } = wallet.callerDialect;
  try {
    const needsToken = alwaysSendToken || message.token !== undefined;
    const token = needsToken ? await tokenFor(delivering, taken, message) : undefined;
    const first = stableRequestId
      ? await firstRequest(delivering.bets, message, taken.operationId)
      : undefined;
    const { operatorUser } = taken.owner;
    return await wallet.bet({
      operation: taken.operation,
      method: 'PUT',
      body: walletBody(message.document, operatorUser, token, alwaysSendToken, first),
      transactionId: taken.transactionId,
      requestId: first?.requestId ?? message.requestId ?? randomUUID(),
      deadline: new Deadline(clock, clock.monotonicMs(), totalMs, reserveMs),
    });
  } catch (error) {
    if (error instanceof GatewayError) return WITHOUT_DATABASE;
    const facts = { err: error, operator: taken.owner.operatorId, delivery: taken.id };
    delivering.logger.error(facts, 'delivery.unsendable');
    return unsendable(`it cannot be sent: ${error}`);
  }
}

const WITHOUT_DATABASE: BetAnswer = {
  kind: 'notSent',
  reason: 'database',
  trace: { sent: false, latencyMs: 0, error: 'PostgreSQL did not tell its token' },
};

/** Claimed with the row; only a bet whose place was never seen has to look for one. */
async function tokenFor(
  { sessions }: Delivering,
  taken: TakenDelivery,
  message: BetRequest,
): Promise<string | undefined> {
  if (taken.sealedToken !== undefined) return sessions.unseal(taken.sealedToken);
  return await betToken(sessions, taken, message.token);
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
      return unreachable(taken.operation);
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

function resultOf(sent: BetAnswer): string {
  if (sent.kind === 'unknown') return sent.fault;
  return sent.kind === 'notSent' ? sent.reason : sent.kind;
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
