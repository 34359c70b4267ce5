import { type Draining, drain } from './drain.ts';
import { Pace } from './pace.ts';

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
      const drained = await drain(this.#draining, operatorId, pace, this.#isStopping);
      return drained.kind === 'more' && !this.#isStopping() ? drained.inMs : undefined;
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
