import CircuitBreaker from 'opossum';
import type { BreakerOverride, BreakerSettings, BreakerState } from './breaker-settings.ts';
import { type BreakerWindows, WINDOW_BUCKETS } from './breaker-windows.ts';
import type { Health } from './health.ts';

/**
 * opossum opens above its threshold, so that 100 could never be reached; `errorPercent` is meant
 * as "this much and more".
 */
const PERCENT_MARGIN = 1e-6;

/** Makes opossum count a failure; never leaves this file. */
const FAULT = new Error('faulty wallet answer');

type Judgement = () => Promise<void>;
type Judged = CircuitBreaker<[Judgement], void>;

/**
 * One operator's breaker for one class of calls: opossum's counting and states, made on the first
 * call (most of a thousand operators are quiet), with an override for people.
 */
export class Breaker {
  readonly #options: CircuitBreaker.Options<[Judgement]>;
  readonly #onChange: (state: BreakerState) => void;
  #circuit: Judged | undefined;
  #override: BreakerOverride;
  #reported: BreakerState;

  /** @param options.onChange called with each new state, including those set by an override */
  constructor(options: {
    readonly name: string;
    readonly settings: BreakerSettings;
    readonly windows: BreakerWindows;
    readonly override: BreakerOverride;
    readonly onChange: (state: BreakerState) => void;
  }) {
    this.#onChange = options.onChange;
    this.#options = optionsOf(options.name, options.settings, options.windows);
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

  /**
   * Makes a call and counts its outcome. Check `admits` synchronously before.
   * @throws whatever the call throws; that counts as a fault
   */
  async run<T>(call: () => Promise<T>, healthOf: (answer: T) => Health): Promise<T> {
    if (this.#override !== 'auto') return call();
    const circuit = this.#opossum();
    const answer = call();
    const judgement = async () => {
      const health = healthOf(await answer);
      // A half-open breaker needs proof: a call that proved nothing may not close it.
      if (health === 'faulty' || (health === 'neutral' && circuit.halfOpen)) throw FAULT;
    };
    // Its rejections are verdicts; an error of the call itself reaches the caller with `answer`.
    await circuit.fire(judgement).catch(() => undefined);
    return answer;
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

  #opossum(): Judged {
    if (this.#circuit !== undefined) return this.#circuit;
    const circuit: Judged = new CircuitBreaker<[Judgement], void>(
      (judgement) => judgement(),
      this.#options,
    );
    circuit
      .on('open', () => this.#report())
      .on('halfOpen', () => this.#report())
      .on('close', () => {
        // opossum keeps its counts when it closes: the next calls are counted by a new circuit.
        this.shutdown();
        this.#report();
      });
    this.#circuit = circuit;
    return circuit;
  }

  #report(): void {
    const state = this.state;
    if (state === this.#reported) return;
    this.#reported = state;
    this.#onChange(state);
  }
}

function optionsOf(
  name: string,
  { errorPercent, minRequests, windowMs, openMs }: BreakerSettings,
  windows: BreakerWindows,
): CircuitBreaker.Options<[Judgement]> {
  return {
    name,
    // The call has a deadline of its own; opossum's would abort a slow call's healthy siblings.
    timeout: false,
    errorThresholdPercentage: errorPercent - PERCENT_MARGIN,
    // The default of 0 would open on a single failure.
    volumeThreshold: minRequests,
    rollingCountTimeout: windowMs,
    rollingCountBuckets: WINDOW_BUCKETS,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
    rotateBucketController: windows.tickFor(windowMs),
    resetTimeout: openMs,
  };
}
