import { MAY_BE_LOAD } from '../check/finding.ts';
import { type Plan, prune } from '../plan/plan.ts';
import { writePlan } from '../plan/write-plan.ts';
import type { Verdict } from '../play/verdict.ts';
import { LEASE_MS } from '../settings.ts';
import type { Lane } from './lane.ts';
import type { Options } from './options.ts';
import { commandFor, findingsText, storiesText } from './report.ts';
import { shrink } from './shrink.ts';

const SHRINK_MS_MAX = LEASE_MS * 6;
/** How many failures are shrunk; more would tell nothing new about a gateway that fails everywhere. */
const SHRUNK_MAX = 5;
const SHRINK_TRIES = 2;
const LATE_ONCE = 'late and then not any more: the machine is busy';

/** Plays one history after another: a lane. */
type Player = Pick<Lane, 'play'>;

export interface Summary {
  readonly played: number;
  readonly walletCalls: number;
  readonly undecided: number;
  readonly failures: readonly Verdict[];
  /** How many faults of each kind have hit something. */
  readonly came: ReadonlyMap<string, number>;
}

export interface Hooks {
  readonly log: (line: string) => void;
  /** Whether the run stops after this failure. */
  readonly stopsAt?: (verdict: Verdict) => Promise<boolean>;
  /** Called after every history, before anything is decided about the run. */
  readonly onPlayed?: () => void;
}

/** The histories of one run and their results. */
export class Histories {
  readonly #options: Options;
  readonly #hooks: Hooks;
  readonly #endsAtMs: number;
  readonly #failures: Verdict[] = [];
  readonly #tally = { played: 0, walletCalls: 0, undecided: 0, came: new Map<string, number>() };
  /** Histories that were late twice while others were played beside them. */
  readonly #late: { readonly lane: Player; readonly plan: Plan }[] = [];
  #shrunk = 0;
  #isStopped = false;

  constructor(options: Options, hooks: Hooks) {
    this.#options = options;
    this.#hooks = hooks;
    const { minutes = Number.POSITIVE_INFINITY } = options;
    this.#endsAtMs = performance.now() + minutes * 60_000;
  }

  get isOver(): boolean {
    return this.#isStopped || performance.now() > this.#endsAtMs;
  }

  get progress(): string {
    return `… ${this.#tally.played} histories, ${this.#failures.length} failures`;
  }

  get summary(): Summary {
    return { ...this.#tally, failures: this.#failures };
  }

  async play(lane: Player, seed: number): Promise<void> {
    const { log, stopsAt, onPlayed } = this.#hooks;
    const plan = planOf(this.#options, seed);
    let verdict = await playAtLast(lane, plan, log);
    if (this.#isStopped) return;
    add(this.#tally, verdict);
    onPlayed?.();
    if (this.#options.tellsAll) log(storiesText(verdict));
    if (mayBeLoad(verdict)) {
      verdict = await playAtLast(lane, plan, log);
      if (verdict.findings.length === 0) return log(`seed ${seed}: ${LATE_ONCE}`);
      // While deployments start, a small machine is slow for minutes.
      if (mayBeLoad(verdict) && this.#options.jobs > 1 && stopsAt === undefined) {
        this.#late.push({ lane, plan });
        return;
      }
    }
    if (verdict.findings.length > 0) await this.#tell(lane, verdict);
  }

  /** Plays the histories that were late once more, one at a time: others may have slowed them down. */
  async playLateAlone(): Promise<void> {
    for (const { lane, plan } of this.#late) {
      const verdict = await playAtLast(lane, plan, this.#hooks.log);
      if (verdict.findings.length > 0) await this.#tell(lane, verdict);
      else this.#hooks.log(`seed ${plan.seed}: ${LATE_ONCE}`);
    }
  }

  async #tell(lane: Player, verdict: Verdict): Promise<void> {
    const { log, stopsAt } = this.#hooks;
    const { steps, keep, shrinks } = this.#options;
    this.#failures.push(verdict);
    const name = `seed ${verdict.plan.seed} (${verdict.plan.layout})`;
    const again = commandFor(verdict, steps, keep !== undefined);
    log(`${name} FAILS:\n${findingsText(verdict)}\n  again: ${again}`);
    if ((await stopsAt?.(verdict)) === true) this.#isStopped = true;
    if (!shrinks || this.#shrunk >= SHRUNK_MAX) return log(storiesText(verdict));
    this.#shrunk += 1;
    await tellSmallest(lane, verdict, this.#options, log);
  }
}

/** Whether an overloaded machine alone can explain every finding. */
function mayBeLoad({ findings }: Verdict): boolean {
  return findings.length > 0 && findings.every(({ kind }) => MAY_BE_LOAD.has(kind));
}

function add(
  tally: { played: number; walletCalls: number; undecided: number; came: Map<string, number> },
  { walletCalls, undecided, came }: Verdict,
): void {
  tally.played += 1;
  tally.walletCalls += walletCalls;
  tally.undecided += undecided;
  for (const [name, times] of came) tally.came.set(name, (tally.came.get(name) ?? 0) + times);
}

/** Shrinks a failing history as far as time allows, and prints its story. */
async function tellSmallest(
  lane: Player,
  verdict: Verdict,
  { steps }: Options,
  log: Hooks['log'],
): Promise<void> {
  const giveUpAtMs = performance.now() + SHRINK_MS_MAX;
  const smallest = await shrink(verdict, {
    play: (smaller) => playAtLast(lane, smaller, log),
    tries: SHRINK_TRIES,
    isOver: () => performance.now() > giveUpAtMs,
  });
  const { seed, layout } = verdict.plan;
  const again = commandFor(smallest, steps, true);
  log(
    `seed ${seed} (${layout}), made smaller:\n${findingsText(smallest)}\n  again: ${again}\n${storiesText(smallest)}`,
  );
}

/** Gives a deployment a second chance if it does not start on an overloaded machine. */
export async function playAtLast(
  lane: Player,
  plan: Plan,
  log: (line: string) => void,
): Promise<Verdict> {
  try {
    return await lane.play(plan);
  } catch (error) {
    const why = String(error).split('\n')[0];
    log(`seed ${plan.seed} could not be played, and is played again: ${why}`);
    return await lane.play(plan);
  }
}

function planOf({ steps, keep }: Options, seed: number): Plan {
  const plan = writePlan(seed, steps);
  return keep === undefined ? plan : prune(plan, new Set(keep));
}
