import type { Clock } from '../domain/clock.ts';
import { GatewayError } from '../domain/errors.ts';
import type { DeliveryStore, TakenDelivery } from '../store/delivery-store.ts';
import type { Wallet } from '../wallets/call.ts';
import type { Wallets } from '../wallets/wallets.ts';
import { type Delivering, deliver } from './deliver.ts';
import { deliverySettings } from './settings.ts';

/** One operator's backlog is drained in slices, so that a thousand operators share the workers. */
const SLICE_MS = 1_000;

export interface Draining extends Delivering {
  readonly clock: Clock;
  readonly store: DeliveryStore;
  readonly wallets: Wallets;
}

/** `more`: the slice is over but the backlog is not. `held`: the operator takes no calls. */
export type Drained = 'empty' | 'more' | 'held';

/**
 * Why an operator's deliveries are held: no attempts are spent and no horizon runs. Undefined when
 * they may go. Data updates follow the money: they are never worth waking a breaker.
 */
export function heldBecause(
  draining: Pick<Draining, 'wallets'>,
  operatorId: string,
): string | undefined {
  const wallet = draining.wallets.get(operatorId);
  if (wallet === undefined) return 'removed';
  const refusal = wallet.refusal('rollback');
  // A full bulkhead passes by itself within a call's time.
  return refusal === 'bulkhead' ? undefined : refusal;
}

/**
 * Brings home what is due at one operator, for one slice of time, with the operator's own
 * concurrency and rate.
 * @throws GatewayError `DATABASE_UNAVAILABLE` when nothing could be taken
 */
export async function drain(
  draining: Draining,
  operatorId: string,
  isStopping: () => boolean,
): Promise<Drained> {
  const { clock, store } = draining;
  const endsAtMs = clock.monotonicMs() + SLICE_MS;
  while (!isStopping() && clock.monotonicMs() < endsAtMs) {
    const wallet = draining.wallets.get(operatorId);
    const operator = draining.configuration().operators.get(operatorId);
    if (wallet === undefined || operator === undefined) return 'held';
    if (heldBecause(draining, operatorId) !== undefined) return 'held';
    // A half-open breaker admits one call: more would only be put back.
    const probing = wallet.breakerState('money') === 'half_open';
    const concurrency = probing ? 1 : operator.delivery.concurrency;
    const takenAtMs = clock.monotonicMs();
    const batch = await store.take(
      operatorId,
      operator.wallet.generation,
      probing ? 1 : concurrency * 4,
    );
    if (batch.length === 0) return 'empty';
    const unsent = await deliverAll(draining, wallet, batch, concurrency, takenAtMs);
    if (unsent > 0) return heldBecause(draining, operatorId) === undefined ? 'more' : 'held';
  }
  return 'more';
}

/** Delivers a batch, `concurrency` at a time and no faster than the rate. @returns how many were not sent */
async function deliverAll(
  draining: Draining,
  wallet: Wallet,
  batch: readonly TakenDelivery[],
  concurrency: number,
  takenAtMs: number,
): Promise<number> {
  const { ratePerSecond } = deliverySettings(draining.configuration(), wallet.operatorId);
  const intervalMs = ratePerSecond === undefined ? 0 : 1000 / ratePerSecond;
  const queue = [...batch];
  let startAtMs = draining.clock.monotonicMs();
  let unsent = 0;
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const waitMs = startAtMs - draining.clock.monotonicMs();
      startAtMs = Math.max(startAtMs, draining.clock.monotonicMs()) + intervalMs;
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      if ((await attempt(draining, wallet, next, takenAtMs)) === 'unsent') unsent += 1;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, batch.length) }, lane));
  return unsent;
}

/** One delivery's failure is its own: a poison message must not stop its operator's drain. */
async function attempt(
  draining: Draining,
  wallet: Wallet,
  taken: TakenDelivery,
  takenAtMs: number,
) {
  try {
    return await deliver(draining, wallet, taken, takenAtMs);
  } catch (error) {
    const level = error instanceof GatewayError ? 'warn' : 'error';
    draining.logger[level](
      { err: error, operator: wallet.operatorId, delivery: taken.id },
      'delivery.not_recorded: it is repeated when its lease ends',
    );
    return 'failed';
  }
}
