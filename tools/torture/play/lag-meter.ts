const TICK_MS = 20;
const LAG_MS_MIN = 60;

/** Measures when this machine was too busy for a late answer to be anybody's fault. */
export class LagMeter {
  readonly #spans: { readonly fromMs: number; readonly toMs: number }[] = [];
  readonly #timer: NodeJS.Timeout;
  #lastMs = performance.now();

  constructor() {
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs - this.#lastMs - TICK_MS > LAG_MS_MIN) {
        this.#spans.push({ fromMs: this.#lastMs, toMs: nowMs });
      }
      this.#lastMs = nowMs;
    }, TICK_MS);
  }

  wasLagging(fromMs: number, toMs: number): boolean {
    return this.#spans.some((span) => span.fromMs < toMs && span.toMs > fromMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
