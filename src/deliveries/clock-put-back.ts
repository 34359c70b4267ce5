import { PAUSE_MS_MAX } from '../config/schema/delivery-schema.ts';
import type { Clock } from '../domain/clock.ts';
import { SECOND_TIME_FACTOR } from '../domain/confirm.ts';
import { LEASE_MS } from '../store/bets/lease.ts';
import type { DeliveryStore } from '../store/deliveries/queue.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Clocks that are right differ by less. */
const TOLERATED_MS = 60_000;

/**
 * The longest waits that a configuration may have, and not those of this process's own: during a rollout another
 * replica may have longer ones, and what it postpones must not become due here again and again.
 */
const LONGEST = {
  leaseMs: LEASE_MS + TOLERATED_MS,
  deliveryMs: PAUSE_MS_MAX + TOLERATED_MS,
  confirmationMs: PAUSE_MS_MAX * SECOND_TIME_FACTOR + TOLERATED_MS,
};

/** Of bets, and of deliveries, in one statement, which locks them. */
const BATCH = 500;
/** In one go; the others are left to the next one, so that the sweep's other duties do not wait. */
const BATCHES = 10;

interface Pulling {
  readonly store: Pick<DeliveryStore, 'pullFromFuture'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Everything that waits has its time by PostgreSQL's clock. Where that was far ahead and is put right, or is put back, it
 * would wait as much longer; so what is further ahead than anything may wait becomes due.
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function pullFromFuture({ store, clock, logger }: Pulling): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const { bets, deliveries } = await store.pullFromFuture({
      waits: LONGEST,
      now: new Date(clock.nowMs()),
      limit: BATCH,
    });
    if (bets + deliveries === 0) return;
    const note = 'they waited for a time that is too far ahead: PostgreSQL’s clock was put back';
    logger.warn({ bets, deliveries, note }, 'postgresql.clock_put_back');
    if (bets < BATCH && deliveries < BATCH) return;
  }
}
