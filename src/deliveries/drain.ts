import type { Wallets } from '../wallets/wallets.ts';
import type { Confirming } from './confirm.ts';
import type { Originating } from './originate.ts';
import { Pace } from './pace.ts';
import { Slice, type Slicing } from './slice.ts';

/** One operator's backlog is drained in slices, so that a thousand operators share the workers. */
const SLICE_MS = 1_000;
/**
 * The pause after a refused call: its reason, such as a full bulkhead, passes within the duration of a
 * call.
 */
const BUSY_PAUSE_MS = 250;

export interface Draining extends Slicing, Originating, Confirming {
  readonly wallets: Wallets;
  /** Whether a person holds the operator's deliveries, as of the last sweep. */
  readonly isHeldByPerson?: (operatorId: string) => boolean;
}

/**
 * Whether an operator's deliveries are held: no attempts are made and the horizon stands still. Decided by
 * the breaker of money calls for data updates too: they never probe a breaker.
 */
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

/** Whether people keep them back, whatever the breaker does: by a hold, maintenance, or no file. */
export function areKeptBack(
  draining: Pick<Draining, 'wallets' | 'isHeldByPerson'>,
  operatorId: string,
): boolean {
  const refusal = draining.wallets.get(operatorId)?.refusal('rollback');
  const isByPerson = draining.isHeldByPerson?.(operatorId) === true;
  return isByPerson || (areHeld(draining, operatorId) && refusal !== 'breaker');
}

/** The drains of this process: one of an operator at a time, or its wallet would get twice the calls. */
export class Drains {
  readonly #draining: Draining;
  readonly #runDuty: (work: () => Promise<unknown>) => Promise<void>;
  readonly #isStopping: () => boolean;
  /** Operators being drained now. */
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
   * Drains one slice, unless this process is draining the operator already.
   * @returns after how many milliseconds to drain again; undefined if nothing more is due here
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

  /** Starts to drain one slice without the scheduler; the next sweep tries Redis again. */
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
 * Delivers an operator's due deliveries for one slice of time, with the operator's own
 * concurrency and rate.
 * @param pace the operator's own, kept from slice to slice
 * @returns after how many milliseconds to drain again; undefined if nothing is left, or it takes no calls
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
  // Even if nothing is left, the drain stays scheduled while the pace demands a pause.
  return slice.isDry && pace.waitMs === 0 ? undefined : pace.waitMs;
}
