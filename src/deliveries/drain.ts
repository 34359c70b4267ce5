import type { Wallets } from '../wallets/wallets.ts';
import type { Confirming } from './confirm.ts';
import type { Originating } from './originate.ts';
import { Pace } from './pace.ts';
import { Slice, type Slicing } from './slice.ts';

/** Backlogs are drained in slices, so that a thousand operators share the workers. */
const SLICE_MS = 1_000;
/** Pause after a refused call: a full bulkhead clears within the duration of a call. */
const BUSY_PAUSE_MS = 250;

export interface Draining extends Slicing, Originating, Confirming {
  readonly wallets: Wallets;
  /** As of the last sweep. */
  readonly isHeldByPerson?: (operatorId: string) => boolean;
}

/** Held: no attempts, and the horizon stops. Updates follow the breaker of money calls too, but never probe it. */
export function areHeld(
  { wallets, isHeldByPerson }: Pick<Draining, 'wallets' | 'isHeldByPerson'>,
  operatorId: string,
): boolean {
  const wallet = wallets.get(operatorId);
  // An operator without a file has no wallet here.
  if (wallet === undefined || isHeldByPerson?.(operatorId) === true) return true;
  const refusal = wallet.refusal('rollback');
  // A full bulkhead clears by itself within the duration of a call.
  return refusal !== undefined && refusal !== 'bulkhead';
}

/** Held by people, whatever the breaker says: a hold, maintenance, or no file. */
export function areKeptBack(
  draining: Pick<Draining, 'wallets' | 'isHeldByPerson'>,
  operatorId: string,
): boolean {
  const refusal = draining.wallets.get(operatorId)?.refusal('rollback');
  const isByPerson = draining.isHeldByPerson?.(operatorId) === true;
  return isByPerson || (areHeld(draining, operatorId) && refusal !== 'breaker');
}

/** This process's drains: one per operator, or its wallet would get twice the calls. */
export class Drains {
  readonly #draining: Draining;
  readonly #runDuty: (work: () => Promise<unknown>) => Promise<void>;
  readonly #isStopping: () => boolean;
  readonly #drained = new Set<string>();
  /** Drains started without the scheduler. */
  readonly #here = new Set<Promise<void>>();
  readonly #paces = new Map<string, Pace>();

  /** @param runDuty runs work, and logs if it fails; never rejects */
  constructor(
    draining: Draining,
    runDuty: (work: () => Promise<unknown>) => Promise<void>,
    isStopping: () => boolean,
  ) {
    this.#draining = draining;
    this.#runDuty = runDuty;
    this.#isStopping = isStopping;
  }

  /**
   * Drains one slice, unless this process already drains the operator.
   * @returns milliseconds until the next slice; undefined if nothing more is due here
   * @throws GatewayError `DATABASE_UNAVAILABLE` if deliveries could not be claimed
   */
  async drain(operatorId: string): Promise<number | undefined> {
    if (this.#drained.has(operatorId)) return undefined;
    this.#drained.add(operatorId);
    try {
      const pace = this.#paces.get(operatorId) ?? new Pace(this.#draining.clock);
      this.#paces.set(operatorId, pace);
      const moreInMs = await drain(this.#draining, operatorId, pace, this.#isStopping);
      return this.#isStopping() ? undefined : moreInMs;
    } finally {
      this.#drained.delete(operatorId);
    }
  }

  /** Drains one slice without the scheduler; the next sweep tries Redis again. */
  start(operatorId: string): void {
    if (this.#isStopping()) return;
    this.#draining.metrics.drains.inc({ by: 'sweep' });
    const drained = this.#runDuty(() => this.drain(operatorId)).finally(() =>
      this.#here.delete(drained),
    );
    this.#here.add(drained);
  }

  /** Resolves after the slices that were started here. */
  async ended(): Promise<void> {
    await Promise.all(this.#here);
  }
}

/**
 * Delivers an operator's due deliveries for one slice of time, with its own concurrency and rate.
 * @param pace the operator's own, kept from slice to slice
 * @returns milliseconds until the next slice; undefined if nothing is left, or the operator takes no calls
 * @throws GatewayError `DATABASE_UNAVAILABLE` if deliveries could not be claimed
 */
export async function drain(
  draining: Draining,
  operatorId: string,
  pace: Pace,
  isStopping: () => boolean,
): Promise<number | undefined> {
  const isHeld = () => areHeld(draining, operatorId);
  const wallet = draining.wallets.get(operatorId);
  const operator = draining.configuration().operators.get(operatorId);
  if (wallet === undefined || operator === undefined || isHeld()) return undefined;

  const endsAtMs = draining.clock.monotonicMs() + SLICE_MS;
  const slice = new Slice(draining, { wallet, operator, pace, endsAtMs, isHeld, isStopping });
  await slice.run();
  if (isHeld()) return undefined;
  if (slice.wasRefused) return BUSY_PAUSE_MS;
  // The drain stays scheduled while the pace demands a pause, even if nothing is left.
  if (slice.isDry) return pace.waitMs === 0 ? undefined : pace.waitMs;
  return Math.max(pace.waitMs, draining.liveCalls.waitMs);
}
