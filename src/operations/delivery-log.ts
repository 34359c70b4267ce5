import type { Clock } from '../domain/clock.ts';
import type { AfterAttempt } from '../domain/delivery.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import type { TakenDelivery } from '../store/deliveries/claim-statements.ts';
import type { Engine } from './engine.ts';

/** A delivery's attempt is its own trace: its callback was answered long ago. */
export function tracedAttempt(
  { tracing }: Engine,
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

export function countAttempt(
  { clock, metrics }: Engine,
  taken: TakenDelivery,
  sent: BetAnswer,
  after: AfterAttempt,
): void {
  const operator = taken.owner.operatorId;
  metrics.deliveryAttempts.inc({ operator, operation: taken.operation, result: resultOf(sent) });
  const isOver = after.kind === 'delivered' || after.kind === 'refused';
  // Only the first confirmation counts, not its repeats.
  if (isOver && taken.purpose === 'promise') {
    metrics.deliveryLag.observe(ageMs(clock, taken) / 1000);
  }
}

/** Never negative: the row's time is PostgreSQL's, and this process's clock may be behind. */
function ageMs(clock: Clock, { createdAt }: TakenDelivery): number {
  return Math.max(0, clock.nowMs() - createdAt.getTime());
}

function resultOf(sent: BetAnswer): string {
  if (sent.kind === 'unknown') return sent.fault;
  return sent.kind === 'notSent' ? sent.reason : sent.kind;
}

/** `400 code 5`: without the wallet's text, which may name a person. */
function refusalOf({ code, trace }: Extract<BetAnswer, { kind: 'declined' }>): string {
  return `${trace.status ?? 400} code ${code}`;
}

/** One wide line per attempt; a dead letter is logged as an error. */
export function logAttempt(
  engine: Engine,
  taken: TakenDelivery,
  sent: BetAnswer,
  after: AfterAttempt,
): void {
  const facts = {
    operator: taken.owner.operatorId,
    operation: taken.operation,
    transactionId: taken.transactionId,
    delivery: taken.id,
    purpose: taken.purpose,
    attempt: taken.attempts,
    state: after.kind,
    result: sent.kind,
    status: sent.trace.status,
    code: sent.trace.code,
    // The wallet's text is only in the journal: a log must hold nothing personal.
    error: sent.kind === 'declined' ? refusalOf(sent) : sent.trace.error,
    latencyMs: Math.round(sent.trace.latencyMs),
    ageMs: ageMs(engine.clock, taken),
    retryInMs: 'retryInMs' in after ? after.retryInMs : undefined,
  };
  if (after.kind === 'dead') {
    engine.logger.error({ ...facts, why: 'a person has to decide' }, 'delivery.dead');
  } else {
    engine.logger.info(facts, 'delivery.attempted');
  }
}
