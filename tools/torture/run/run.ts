import { MAY_BE_LOAD } from '../check/finding.ts';
import { openServers } from '../house/servers.ts';
import { type Plan, prune } from '../plan/plan.ts';
import { writePlan } from '../plan/write-plan.ts';
import type { Verdict } from '../play/verdict.ts';
import { LEASE_MS } from '../settings.ts';
import { Dealer, Lane } from './lane.ts';
import type { Options } from './options.ts';
import { commandFor, findingsText, storiesText } from './report.ts';
import { shrink } from './shrink.ts';

const SHRINK_MS_MAX = LEASE_MS * 6;
/** So many failures are made smaller; a gateway that fails everywhere is known by then. */
const SHRUNK_MAX = 5;
const PROGRESS_MS = 30_000;
const SHRINK_TRIES = 2;

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
  /** Whether the run is given up after this failure. */
  readonly stopsAt?: (verdict: Verdict) => Promise<boolean>;
  /** After every history, before it is judged whether the run goes on. */
  readonly onPlayed?: () => void;
}

/** Plays as many seeds as the options say. @returns what came of all of them */
export async function run(options: Options, { log, stopsAt, onPlayed }: Hooks): Promise<Summary> {
  const servers = await openServers();
  const lanes = Array.from({ length: options.jobs }, () => new Lane(servers, options.source));
  const dealer = new Dealer(options.seed, options.seeds, options.jobs);
  const endsAtMs =
    options.minutes === undefined
      ? Number.POSITIVE_INFINITY
      : performance.now() + options.minutes * 60_000;
  const failures: Verdict[] = [];
  const tally = { played: 0, walletCalls: 0, undecided: 0, came: new Map<string, number>() };
  let shrunk = 0;
  let isStopped = false;
  const isOver = () => isStopped || performance.now() > endsAtMs;
  const progress = setInterval(
    () => log(`… ${tally.played} histories, ${failures.length} failures`),
    PROGRESS_MS,
  );

  const playSeed = async (lane: Lane, seed: number) => {
    const plan = planOf(options, seed);
    let verdict = await playAtLast(lane, plan, log);
    if (isStopped) return;
    add(tally, verdict);
    onPlayed?.();
    if (options.tellsAll) log(storiesText(verdict));
    if (verdict.findings.length === 0) return;
    if (verdict.findings.every(({ kind }) => MAY_BE_LOAD.has(kind))) {
      verdict = await playAtLast(lane, plan, log);
      if (verdict.findings.length === 0) {
        return log(`seed ${seed}: late once and not again: the machine is busy`);
      }
    }
    failures.push(verdict);
    const name = `seed ${seed} (${plan.layout})`;
    log(
      `${name} FAILS:\n${findingsText(verdict)}\n  again: ${commandFor(verdict, options.steps, options.keep !== undefined)}`,
    );
    if ((await stopsAt?.(verdict)) === true) isStopped = true;
    if (!options.shrinks || shrunk >= SHRUNK_MAX) return log(storiesText(verdict));
    shrunk += 1;
    await tellSmallest(lane, verdict, options, log);
  };

  try {
    await Promise.all(
      lanes.map(async (lane, index) => {
        for (const seed of dealer.seedsOf(index)) {
          if (isOver()) return;
          await playSeed(lane, seed);
        }
      }),
    );
  } finally {
    clearInterval(progress);
    await Promise.all(lanes.map((lane) => lane.close()));
    await servers.close();
  }
  return { ...tally, failures };
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

/** Makes a failing history as small as time allows, and tells its story. */
async function tellSmallest(
  lane: Lane,
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

/** A house that does not come up, on a machine that does too much, is given a second chance. */
export async function playAtLast(
  lane: Lane,
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
