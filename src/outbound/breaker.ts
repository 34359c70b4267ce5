import CircuitBreaker from 'opossum';

export type BreakerState = 'closed' | 'half_open' | 'open';

/** `auto`: no override. */
export type BreakerOverride = 'closed' | 'open' | 'auto';

export interface BreakerSettings {
  readonly errorPercent: number;
  readonly minRequests: number;
  readonly windowMs: number;
  readonly openMs: number;
}

/** What one call says about the other side's health. `neutral`: nothing, the gateway itself ended it. */
export type Health = 'healthy' | 'faulty' | 'neutral';

/** opossum opens above its threshold; `errorPercent` means "this much and more". */
const PERCENT_MARGIN = 1e-6;

/** Thrown to opossum, and to nobody else, for an answer that proves no health. */
const UNPROVEN = { neutral: new Error('neutral'), faulty: new Error('faulty') } as const;

type Circuit = CircuitBreaker<[() => Promise<unknown>], unknown>;

export interface BreakerOptions {
  readonly name: string;
  readonly settings: BreakerSettings;
  readonly override: BreakerOverride;
  /** Called with each new state, including those set by an override. */
  readonly onChange: (state: BreakerState) => void;
}

/** One operator's breaker for one class of calls: an opossum circuit, and an override for people. */
export class Breaker {
  readonly #options: BreakerOptions;
  /** Made by the first call: most of a thousand operators are quiet. */
  #circuit: Circuit | undefined;
  #override: BreakerOverride;
  #reported: BreakerState;

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#override = options.override;
    this.#reported = this.state;
  }

  get state(): BreakerState {
    if (this.#override !== 'auto') return this.#override;
    if (this.#circuit === undefined || this.#circuit.closed) return 'closed';
    return this.#circuit.halfOpen ? 'half_open' : 'open';
  }

  /** Whether a call made now would be let through: all when closed, one at a time when half-open. */
  get admits(): boolean {
    const state = this.state;
    return state === 'closed' || (state === 'half_open' && this.#circuit?.pendingClose === true);
  }

  /** Makes a call and counts its outcome; check `admits` synchronously before. @throws what the call throws: a fault */
  async run<T extends NonNullable<unknown>>(
    call: () => Promise<T>,
    healthOf: (answer: T) => Health,
  ): Promise<T> {
    if (this.#override !== 'auto') return call();
    this.#circuit ??= this.#createCircuit();
    const answered: { answer?: T } = {};
    try {
      await this.#circuit.fire(async () => {
        answered.answer = await call();
        const health = healthOf(answered.answer);
        if (health !== 'healthy') throw UNPROVEN[health];
      });
    } catch (error) {
      if (answered.answer === undefined) throw error;
    }
    if (answered.answer === undefined) throw new Error('the circuit made no call');
    return answered.answer;
  }

  /** Overriding to closed also resets the circuit, for when the override ends. */
  override(to: BreakerOverride): void {
    this.#override = to;
    if (to === 'closed') this.shutdown();
    this.#report();
  }

  shutdown(): void {
    this.#circuit?.shutdown();
    this.#circuit = undefined;
  }

  #createCircuit(): Circuit {
    const { name, settings } = this.#options;
    const circuit: Circuit = new CircuitBreaker((call: () => Promise<unknown>) => call(), {
      name,
      // What says nothing is no failure; but a half-open breaker needs proof, and may not close on it.
      errorFilter: (error) => error === UNPROVEN.neutral && !circuit.halfOpen,
      // Each call has a deadline of its own; opossum's would abort a slow call's healthy siblings.
      timeout: false,
      errorThresholdPercentage: settings.errorPercent - PERCENT_MARGIN,
      // The default of 0 would open on a single failure.
      volumeThreshold: settings.minRequests,
      rollingCountTimeout: settings.windowMs,
      resetTimeout: settings.openMs,
      rollingPercentilesEnabled: false,
      enableSnapshots: false,
    });
    const report = () => this.#report();
    circuit.on('open', report).on('halfOpen', report);
    circuit.on('close', () => {
      // opossum keeps its counts when it closes: the next calls are counted by a new circuit.
      this.shutdown();
      report();
    });
    return circuit;
  }

  #report(): void {
    const state = this.state;
    if (state === this.#reported) return;
    this.#reported = state;
    this.#options.onChange(state);
  }
}
