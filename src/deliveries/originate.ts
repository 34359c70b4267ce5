import { randomUUID } from 'node:crypto';
import { ROLLBACK_REASONS } from '../domain/codes.ts';
import { decideRollback } from '../domain/decide.ts';
import type { Engine } from '../operations/engine.ts';
import { newDelivery } from '../operations/operator-settings.ts';
import { accepted, isoTime } from '../protocol/answers.ts';
import { jsonString, parseJsonObject } from '../protocol/json.ts';
import type { AnswerCache } from '../redis/answer-cache.ts';
import { ownAttemptId } from '../store/bets/asked-by.ts';
import type { DeliveryStore, OverduePlace } from '../store/deliveries/queue.ts';
import { forEachDueBet } from './due-bets.ts';

export interface Originating extends Engine {
  readonly store: DeliveryStore;
  readonly answers: AnswerCache;
}

const BATCH = 100;

/** Members of a place that a rollback does not carry (service protocol, Bet transaction). */
const ONLY_IN_A_PLACE = ['ip', 'info', 'subPartnerId', 'metadata', 'bonusAmount'];

/**
 * Rolls back places answered 100 or not at all, without a rollback within `originateRollbackAfterMs` (I5).
 * @param passedOver see `DueBets`
 * @returns how many rollbacks were promised
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function originateRollbacks(
  originating: Originating,
  passedOver = new Set<string>(),
): Promise<number> {
  const { operators } = originating.configuration();
  const ages = new Map(
    [...operators.values()].map(({ id, delivery }) => [id, delivery.originateRollbackAfterMs]),
  );
  const { logger, store } = originating;
  const look = (limit: number) => store.overdueUnknown(ages, limit);
  const overdue = { batch: BATCH, look, passedOver };
  return await forEachDueBet(logger, overdue, (place) => originate(originating, place));
}

async function originate(originating: Originating, place: OverduePlace): Promise<boolean> {
  const { transactionId } = place;
  const bet = await originating.bets.find(transactionId);
  if (bet?.owner === undefined) return false;
  const decision = decideRollback(bet);
  // The service's own rollback has come meanwhile, or is in flight.
  if (decision.kind !== 'send' && decision.kind !== 'takeOver') return false;

  const transactionTime = isoTime(originating.clock.nowMs());
  const requestId = randomUUID();
  // Before the journal, as for the service's own rollback.
  await originating.answers.fence(transactionId);
  const committed = await originating.bets.commit(
    {
      from: bet,
      to: { ...bet, rollback: { kind: 'promised', transactionTime } },
      record: {
        operation: 'rollback',
        attemptId: ownAttemptId(),
        requestId,
        body: Buffer.from(rollbackOf(place.body, requestId)),
        answer: accepted(transactionId, transactionTime),
      },
      delivery: newDelivery(originating.configuration(), bet.owner.operatorId, {
        operation: 'rollback',
        state: 'pending',
        transactionTime,
      }),
      supersedes: decision.supersedes,
    },
    undefined,
  );
  if (committed.kind !== 'committed') return false;
  originating.logger.warn(
    {
      operator: bet.owner.operatorId,
      transactionId,
      why: 'the service did not roll back a place that was answered 100',
    },
    'delivery.rollback_originated',
  );
  return true;
}

/** The service's rollback, derived from its place. */
function rollbackOf(place: Buffer, requestId: string): string {
  const changes: Record<string, string | undefined> = {
    type: '3',
    errorCode: String(ROLLBACK_REASONS.partnerTimeout),
    requestId: jsonString(requestId),
  };
  for (const member of ONLY_IN_A_PLACE) changes[member] = undefined;
  return parseJsonObject(place).replace(changes);
}
