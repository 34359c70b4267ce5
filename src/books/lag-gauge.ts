import type { Clock } from '../domain/clock.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** With less than this the books keep up: what was on its way at the last look was booked a moment later. */
const BEHIND_FROM_SECONDS = 60;

/** How far the books are behind, as this process knows it. The alert takes the least of all processes. */
export class LagGauge {
  readonly #gauge: Metrics['booksLag'];
  readonly #clock: Clock;
  #last: { readonly seconds: number; readonly atMs: number } | undefined;

  constructor({ booksLag }: Pick<Metrics, 'booksLag'>, clock: Clock) {
    this.#gauge = booksLag;
    this.#clock = clock;
  }

  isNow(seconds: number): void {
    this.#last = { seconds, atMs: this.#clock.monotonicMs() };
    this.#gauge.set(seconds);
  }

  /** What the books were behind with has become older meanwhile; where they kept up, nothing is known. */
  isNotKnown(): void {
    if (this.#last === undefined || this.#last.seconds < BEHIND_FROM_SECONDS) {
      this.#gauge.remove();
      return;
    }
    const { seconds, atMs } = this.#last;
    this.#gauge.set(seconds + (this.#clock.monotonicMs() - atMs) / 1_000);
  }
}
