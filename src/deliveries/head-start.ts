import type { Clock } from '../domain/clock.ts';

/** How much longer live calls are waited for each time that the breaker has opened again, as a share of its `openMs`. */
const STEP = 0.5;
/** The longest wait, as a multiple of `openMs`. */
const LONGEST = 3;
/** Of a breaker that stays open for longer only so much counts: its deliveries wait for long enough as it is. */
const OPEN_MS_MAX = 5_000;
/** A breaker that opens sooner than this after it was closed has not recovered: it flaps. */
const STEADY_MS = 60_000;
const NOT_CLOSED = Number.POSITIVE_INFINITY;

interface Past {
  /** How often it became half-open without having recovered since. */
  rounds: number;
  closedAtMs: number;
  isFlapping: boolean;
}

/**
 * What live calls have ahead of deliveries at a breaker that does not recover: the deliveries that wait may be those that
 * always fail, and would keep a wallet shut that is well. A half-open breaker, which admits one call, is given a delivery at
 * once the first time, because no player waits for that, and later each time after. Where it opens again soon after it was closed, its
 * deliveries keep their back-off.
 */
export class HeadStart {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #pasts = new Map<string, Past>();
  /** Half-open breakers that are left to live calls. */
  readonly #waiting = new Map<string, NodeJS.Timeout>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Whether the operator's half-open breaker is left to live calls at this moment. */
  isOn(operatorId: string): boolean {
    return this.#waiting.has(operatorId);
  }

  /** Whether its breaker opened soon after it was closed, the last time that it opened, and has not recovered since. */
  isFlapping(operatorId: string): boolean {
    const past = this.#pasts.get(operatorId);
    return past?.isFlapping === true && !this.#isSteady(past);
  }

  opened(operatorId: string): void {
    this.#stopWaiting(operatorId);
    const past = this.#pastOf(operatorId);
    // A half-open one that opens again was not closed meanwhile.
    if (past.closedAtMs === NOT_CLOSED) return;
    past.isFlapping = !this.#isSteady(past);
    past.closedAtMs = NOT_CLOSED;
    if (!past.isFlapping) past.rounds = 0;
  }

  /**
   * @param isShared whether live calls come to this process: elsewhere nobody is waited for
   * @param probe called when it is a delivery's turn
   */
  halfOpen(
    operatorId: string,
    { openMs, isShared }: { readonly openMs: number; readonly isShared: boolean },
    probe: () => void,
  ): void {
    this.#stopWaiting(operatorId);
    const past = this.#pastOf(operatorId);
    const steps = isShared ? Math.min(past.rounds * STEP, LONGEST) : 0;
    past.rounds += 1;
    past.closedAtMs = NOT_CLOSED;
    if (steps === 0) {
      probe();
      return;
    }
    const later = () => {
      this.#waiting.delete(operatorId);
      probe();
    };
    this.#waiting.set(operatorId, setTimeout(later, steps * Math.min(openMs, OPEN_MS_MAX)));
  }

  closed(operatorId: string): void {
    this.#stopWaiting(operatorId);
    this.#pastOf(operatorId).closedAtMs = this.#clock.monotonicMs();
  }

  /** Its next breaker is taken for one that opens for the first time. */
  forget(operatorId: string): void {
    this.#stopWaiting(operatorId);
    this.#pasts.delete(operatorId);
  }

  close(): void {
    for (const operatorId of [...this.#waiting.keys()]) this.#stopWaiting(operatorId);
  }

  #isSteady({ closedAtMs }: Past): boolean {
    return this.#clock.monotonicMs() - closedAtMs >= STEADY_MS;
  }

  #pastOf(operatorId: string): Past {
    const known = this.#pasts.get(operatorId);
    if (known !== undefined) return known;
    const made = { rounds: 0, closedAtMs: Number.NEGATIVE_INFINITY, isFlapping: false };
    this.#pasts.set(operatorId, made);
    return made;
  }

  #stopWaiting(operatorId: string): void {
    clearTimeout(this.#waiting.get(operatorId));
    this.#waiting.delete(operatorId);
  }
}
