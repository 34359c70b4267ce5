import type { Clock } from '../domain/clock.ts';

/** How much the wait for live calls grows each time that the breaker opens again, as a share of its `openMs`. */
const STEP = 0.5;
/** The longest wait, as a multiple of `openMs`. */
const LONGEST = 3;
/** The most of `openMs` that counts: deliveries behind a breaker that stays open for longer wait long enough as it is. */
const OPEN_MS_MAX = 5_000;
/** A breaker that opens again within this time after it was closed has not recovered: it flaps. */
const STEADY_MS = 60_000;
const NOT_CLOSED = Number.POSITIVE_INFINITY;

interface Past {
  /** How often it became half-open without having recovered since. */
  rounds: number;
  closedAtMs: number;
  isFlapping: boolean;
}

/**
 * Lets live calls go before deliveries at a breaker that does not recover. The pending deliveries may be ones that always
 * fail, and would keep the breaker of a healthy wallet open. A half-open breaker admits one call: the first time a
 * delivery gets it at once, because no player waits for it; each later time live calls have longer to come first. A
 * breaker that opens again soon after it was closed leaves its deliveries their back-off.
 */
export class HeadStart {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #pasts = new Map<string, Past>();
  /** Half-open breakers that are left to live calls. */
  readonly #waiting = new Map<string, NodeJS.Timeout>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Whether deliveries now leave the operator's half-open breaker to live calls. */
  isOn(operatorId: string): boolean {
    return this.#waiting.has(operatorId);
  }

  /** Whether its breaker, the last time it opened, did so soon after it was closed, and has not recovered since. */
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
   * @param isShared whether this process takes live calls; if not, the delivery goes at once
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

  /** The next time its breaker opens counts as the first. */
  forget(operatorId: string): void {
    this.#stopWaiting(operatorId);
    this.#pasts.delete(operatorId);
  }

  /** Forgets operators without a file: one that comes back has new breakers, and perhaps another wallet. */
  keepOnly(isConfigured: (operatorId: string) => boolean): void {
    for (const operatorId of this.#pasts.keys()) {
      if (!isConfigured(operatorId)) this.forget(operatorId);
    }
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
