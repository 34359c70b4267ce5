import type { Wallets } from '../wallets/wallets.ts';
import type { Confirming } from './confirm.ts';
import type { Originating } from './originate.ts';
import type { Pace } from './pace.ts';
import { Slice, type Slicing } from './slice.ts';

/** One operator's backlog is drained in slices, so that a thousand operators share the workers. */
const SLICE_MS = 1_000;
/**
 * A reason for which the operator took no call, such as a full bulkhead, passes within a call's
 * time.
 */
const BUSY_PAUSE_MS = 250;

export interface Draining extends Slicing, Originating, Confirming {
  readonly wallets: Wallets;
  /** Whether a person holds the operator's deliveries, as known at the last sweep. */
  readonly isHeldByPerson?: (operatorId: string) => boolean;
}

export type Drained =
  | { readonly kind: 'empty' }
  /** The operator takes no calls. */
  | { readonly kind: 'held' }
  /** The slice is over but the backlog is not: come back, not sooner than after so long. */
  | { readonly kind: 'more'; readonly inMs: number };

/**
 * Whether an operator's deliveries are held: no attempts are spent and the horizon stands still. Data
 * updates follow the money: a breaker is never probed for them.
 */
export function areHeld(
  { wallets, isHeldByPerson }: Pick<Draining, 'wallets' | 'isHeldByPerson'>,
  operatorId: string,
): boolean {
  const wallet = wallets.get(operatorId);
  // An operator without a file has no wallet here.
  if (wallet === undefined || isHeldByPerson?.(operatorId) === true) return true;
  const refusal = wallet.refusal('rollback');
  // A full bulkhead passes by itself within a call's time.
  return refusal !== undefined && refusal !== 'bulkhead';
}

/**
 * Delivers what is due at one operator, for one slice of time, with the operator's own
 * concurrency and rate.
 * @param pace the operator's own, kept from slice to slice
 * @throws GatewayError `DATABASE_UNAVAILABLE` when deliveries could not be taken
 */
export async function drain(
  draining: Draining,
  operatorId: string,
  pace: Pace,
  isStopping: () => boolean,
): Promise<Drained> {
  const isHeld = () => areHeld(draining, operatorId);
  const wallet = draining.wallets.get(operatorId);
  const operator = draining.configuration().operators.get(operatorId);
  if (wallet === undefined || operator === undefined || isHeld()) return { kind: 'held' };

  const endsAtMs = draining.clock.monotonicMs() + SLICE_MS;
  const slice = new Slice(draining, { wallet, operator, pace, endsAtMs, isHeld, isStopping });
  await slice.run();
  if (isHeld()) return { kind: 'held' };
  if (slice.wasRefused) return { kind: 'more', inMs: BUSY_PAUSE_MS };
  // Also when nothing is left: whoever comes next must find the pace of this slice.
  if (slice.isDry && pace.waitMs === 0) return { kind: 'empty' };
  return { kind: 'more', inMs: pace.waitMs };
}
