import type { Plan } from '../plan/plan.ts';
import { writePlan } from '../plan/write-plan.ts';
import type { Verdict } from '../play/verdict.ts';
import type { Lane } from './lane.ts';
import type { Options } from './options.ts';
import { commandFor, findingsText, storiesText } from './report.ts';

export interface Summary {
  readonly played: number;
  readonly walletCalls: number;
  readonly undecided: number;
  readonly failures: readonly Verdict[];
  /** How many faults of each kind have hit something. */
  readonly came: ReadonlyMap<string, number>;
}

type Log = (line: string) => void;

/** The histories of one run and their results. */
export class Histories {
  readonly #options: Options;
  readonly #log: Log;
  readonly #endsAtMs: number;
  readonly #failures: Verdict[] = [];
  readonly #tally = { played: 0, walletCalls: 0, undecided: 0, came: new Map<string, number>() };

  constructor(options: Options, log: Log) {
    this.#options = options;
    this.#log = log;
    const { minutes = Number.POSITIVE_INFINITY } = options;
    this.#endsAtMs = performance.now() + minutes * 60_000;
  }

  get isOver(): boolean {
    return performance.now() > this.#endsAtMs;
  }

  get progress(): string {
    return `… ${this.#tally.played} histories, ${this.#failures.length} failures`;
  }

  get summary(): Summary {
    return { ...this.#tally, failures: this.#failures };
  }

  async play(lane: Lane, seed: number): Promise<void> {
    const { steps, tellsAll } = this.#options;
    const verdict = await playAtLast(lane, writePlan(seed, steps), this.#log);
    this.#add(verdict);
    const fails = verdict.findings.length > 0;
    if (tellsAll || fails) this.#log(storiesText(verdict));
    if (!fails) return;
    this.#failures.push(verdict);
    const again = commandFor(verdict, steps);
    const name = `seed ${seed} (${verdict.plan.layout})`;
    this.#log(`${name} FAILS:\n${findingsText(verdict)}\n  again: ${again}`);
  }

  #add({ walletCalls, undecided, came }: Verdict): void {
    this.#tally.played += 1;
    this.#tally.walletCalls += walletCalls;
    this.#tally.undecided += undecided;
    for (const [name, times] of came) {
      this.#tally.came.set(name, (this.#tally.came.get(name) ?? 0) + times);
    }
  }
}

/** Gives a deployment a second chance if it does not start on an overloaded machine. */
async function playAtLast(lane: Lane, plan: Plan, log: Log): Promise<Verdict> {
  try {
    return await lane.play(plan);
  } catch (error) {
    const why = String(error).split('\n')[0];
    log(`seed ${plan.seed} could not be played, and is played again: ${why}`);
    return await lane.play(plan);
  }
}
