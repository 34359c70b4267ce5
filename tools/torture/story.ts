/** One event, as one of the parties saw it. */
export interface Line {
  /** Since the beginning of the history. */
  readonly atMs: number;
  readonly who: 'service' | 'gateway' | 'wallet' | 'fault' | 'check';
  /** Plan id of the bet; undefined if it is about no bet or about all. */
  readonly bet: string | undefined;
  readonly text: string;
}

/** Everything that happened in one history, in the order of time. */
export class Story {
  readonly #startedAtMs = performance.now();
  readonly #lines: Line[] = [];

  nowMs(): number {
    return performance.now() - this.#startedAtMs;
  }

  tell(who: Line['who'], bet: string | undefined, text: string): void {
    this.#lines.push({ atMs: this.nowMs(), who, bet, text });
  }

  /** The events of one bet, including those about all bets. */
  of(bet: string): readonly Line[] {
    return this.#lines.filter((line) => line.bet === bet || line.bet === undefined);
  }

  /** The beginning of the history on `performance.now()`. */
  get startedAtMs(): number {
    return this.#startedAtMs;
  }
}

export function textOf(line: Line): string {
  return `${line.atMs.toFixed(0).padStart(7)} ms  ${line.who.padEnd(8)} ${line.text}`;
}
