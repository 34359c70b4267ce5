import CircuitBreaker from 'opossum';
import type {
  BreakerHearsay,
  BreakerOverride,
  BreakerSettings,
  BreakerState,
  BreakerVerdict,
} from './breaker-settings.ts';
import { type BreakerWindows, WINDOW_BUCKETS } from './breaker-windows.ts';
import type { Health } from './health.ts';

/**
 * opossum opens above its threshold, so that 100 could never be reached; `errorPercent` is meant
 * as "this much and more".
 */
const PERCENT_MARGIN = 1e-6;

/**
 * A breaker that opened because another process's did waits this many times as long before it probes:
 * by then that process has probed, or has died, is frozen or has no calls.
 */
const PATIENCE = 2;

/**
 * After following another process's openings this often in a row, it probes once itself: the other process
 * may be the one in trouble, and processes without calls of their own would never notice.
 */
const FOLLOWED_MAX = 5;

/** Makes opossum count a failure; never leaves this file. */
const FAULT = new Error('faulty wallet answer');

type Judgement = () => Promise<void>;
type Judged = CircuitBreaker<[Judgement], void>;

/**
 * One operator's breaker for one class of calls: opossum's counting and states, made on the first
 * call (most of a thousand operators are quiet), with an override for people.
 */
export class Breaker {
  readonly #settings: BreakerSettings;
  /** opossum's options object, which it reads as long as the circuit exists. */
  readonly #options: CircuitBreaker.Options<[Judgement]>;
  readonly #onChange: (state: BreakerState) => void;
  readonly #onVerdict: (verdict: BreakerVerdict) => void;
  #circuit: Judged | undefined;
  #override: BreakerOverride;
  #reported: BreakerState;
  /** Whether it is being opened or closed for another reason than its own calls. */
  #isTold = false;
  #hasProbed = false;
  /** How often in a row it has opened because another process's breaker did. */
  #followed = 0;

  /**
   * @param options.onChange called with each new state, including those set by an override
   * @param options.onVerdict called with the verdicts of its own calls
   */
  constructor(options: {
    readonly name: string;
    readonly settings: BreakerSettings;
    readonly windows: BreakerWindows;
    readonly override: BreakerOverride;
    readonly onChange: (state: BreakerState) => void;
    readonly onVerdict?: (verdict: BreakerVerdict) => void;
  }) {
    this.#settings = options.settings;
    this.#onChange = options.onChange;
    this.#onVerdict = options.onVerdict ?? (() => undefined);
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

  /** Whether the circuit itself is open or half-open, regardless of an override. */
  get hasOpened(): boolean {
    return this.#circuit?.closed === false;
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
    this.#told((circuit) => {
      if (to === 'closed') circuit?.close();
    });
  }

  /**
   * Follows another process's breaker, so that not every process has to try a failing wallet. This one's own
   * calls take precedence, because the other process may be the one in trouble.
   */
  follow(found: BreakerHearsay): void {
    if (found === 'open' && this.#knowsBetter()) return;
    this.#followed = found === 'open' ? this.#followed + 1 : 0;
    if (this.#followed > FOLLOWED_MAX && this.#circuit?.closed === false) return;
    this.#told((known) => {
      known?.close();
      if (found === 'closed') return;
      const circuit = this.#opossum();
      // opossum reads it at the moment it opens.
      this.#options.resetTimeout = PATIENCE * this.#settings.openMs;
      circuit.open();
      this.#options.resetTimeout = this.#settings.openMs;
    });
  }

  shutdown(): void {
    this.#circuit?.shutdown();
    this.#circuit = undefined;
  }

  /** Whether this process has made calls, and they succeed often enough. */
  #knowsBetter(): boolean {
    const circuit = this.#circuit;
    if (circuit === undefined || !circuit.closed) return false;
    const { successes, failures } = circuit.stats;
    const { minRequests, errorPercent } = this.#settings;
    const calls = successes + failures;
    return calls >= minRequests / 2 && (100 * failures) / calls < errorPercent / 2;
  }

  /** Opens or closes the circuit without counting that as a verdict of its own. */
  #told(change: (circuit: Judged | undefined) => void): void {
    this.#isTold = true;
    change(this.#circuit);
    this.#isTold = false;
    this.#report();
  }

  #opossum(): Judged {
    if (this.#circuit !== undefined) return this.#circuit;
    const circuit: Judged = new CircuitBreaker<[Judgement], void>(
      (judgement) => judgement(),
      this.#options,
    );
    circuit
      .on('open', () => this.#moved(this.#hasProbed ? 'reopened' : 'opened'))
      .on('halfOpen', () => this.#moved('probing'))
      .on('close', () => {
        // opossum keeps its counts when it closes: the next calls are counted by a new circuit.
        this.shutdown();
        this.#moved('closed');
      });
    this.#circuit = circuit;
    return circuit;
  }

  #moved(how: BreakerVerdict | 'probing'): void {
    this.#hasProbed = how === 'probing';
    if (this.#isTold) return;
    if (how !== 'probing') this.#followed = 0;
    this.#report();
    if (how !== 'probing') this.#onVerdict(how);
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
