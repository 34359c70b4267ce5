import type { Clock } from '../domain/clock.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/**
 * How far the books are behind, as this process knows it. The alert takes the least of all processes: one that kept its
 * last value while it cannot read a new one would hide what the others tell.
 */
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

  /** What was not booked at the last look has become older meanwhile; where all was, nothing is known. */
  isNotKnown(): void {
    if (this.#last === undefined || this.#last.seconds === 0) {
      this.#gauge.remove();
      return;
    }
    const { seconds, atMs } = this.#last;
    this.#gauge.set(seconds + (this.#clock.monotonicMs() - atMs) / 1_000);
  }
}
