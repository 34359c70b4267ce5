/** One line of what happened, as somebody saw it. */
export interface Line {
  /** From the beginning of the history. */
  readonly atMs: number;
  readonly who: 'service' | 'gateway' | 'wallet' | 'fault' | 'check';
  /** Plan id of the bet; undefined: about no bet, or about all. */
  readonly bet: string | undefined;
  readonly text: string;
}

/** Everything that happened in one history, in time order. */
export class Story {
  readonly #startedAtMs = performance.now();
  readonly #lines: Line[] = [];

  nowMs(): number {
    return performance.now() - this.#startedAtMs;
  }

  tell(who: Line['who'], bet: string | undefined, text: string): void {
    this.#lines.push({ atMs: this.nowMs(), who, bet, text });
  }

  /** What concerns one bet, faults of everybody included. */
  of(bet: string): readonly Line[] {
    return this.#lines.filter((line) => line.bet === bet || line.bet === undefined);
  }

  /** Where the history's time zero stands on `performance.now()`. */
  get startedAtMs(): number {
    return this.#startedAtMs;
  }
}

export function textOf(line: Line): string {
  return `${line.atMs.toFixed(0).padStart(7)} ms  ${line.who.padEnd(8)} ${line.text}`;
}
