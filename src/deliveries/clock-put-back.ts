import type { Configuration } from '../config/schema/schema.ts';
import { SECOND_TIME_FACTOR } from '../domain/confirm.ts';
import type { DeliveryStore } from '../store/deliveries/queue.ts';
import type { LongestWaits } from '../store/deliveries/too-far-ahead.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Deliveries of another wallet wait for ten minutes, whatever the settings say. */
const POSTPONED_MS = 600_000;
/** A clock that was put back by less costs nobody more than this. */
const TOLERATED_MS = 60_000;
const BATCH = 5_000;

interface Pulling {
  readonly store: Pick<DeliveryStore, 'pullFromFuture'>;
  readonly configuration: () => Configuration;
  readonly logger: Logger;
}

/**
 * Everything that waits has its time by PostgreSQL's clock. Where that was ahead and is put right, or is put back, it
 * would wait as much longer; so what is further ahead than anything may wait becomes due.
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function pullFromFuture(pulling: Pulling): Promise<void> {
  const { store, configuration, logger } = pulling;
  const waits = longestWaits(configuration());
  for (;;) {
    const pulled = await store.pullFromFuture(waits, BATCH);
    const { bets, deliveries } = pulled;
    if (bets + deliveries === 0) return;
    const note = 'they waited for a time that is too far ahead: PostgreSQL’s clock was put back';
    logger.warn({ bets, deliveries, note }, 'postgresql.clock_put_back');
    if (bets < BATCH && deliveries < BATCH) return;
  }
}

function longestWaits({ gateway, operators }: Configuration): LongestWaits {
  const all = [gateway.delivery, ...[...operators.values()].map(({ delivery }) => delivery)];
  const backoffMs = Math.max(POSTPONED_MS, ...all.map(({ maxBackoffMs }) => maxBackoffMs));
  const confirmMs = Math.max(...all.map(({ confirmUnknownAfterMs }) => confirmUnknownAfterMs));
  return {
    deliveryMs: backoffMs + TOLERATED_MS,
    confirmationMs: confirmMs * SECOND_TIME_FACTOR + TOLERATED_MS,
  };
}
