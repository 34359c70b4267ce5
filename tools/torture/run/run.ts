import { type Deployment, openDeployment } from '../deployment/deployment.ts';
import { openServers, type Servers } from '../deployment/servers.ts';
import { LAYOUTS, type Layout, type Plan } from '../plan/plan.ts';
import { writePlan } from '../plan/write-plan.ts';
import { play } from '../play/play.ts';
import type { Verdict } from '../play/verdict.ts';
import type { Options } from './options.ts';
import { commandFor, findingsText, storiesText } from './report.ts';

const PROGRESS_MS = 30_000;

export interface Summary {
  played: number;
  walletCalls: number;
  undecided: number;
  readonly failures: Verdict[];
  /** How many faults of each kind have hit something. */
  readonly came: Map<string, number>;
}

/** Plays as many seeds as the options say. @returns the results of all of them */
export async function run(options: Options, log: (line: string) => void): Promise<Summary> {
  const { jobs, seed: first, seeds, steps, minutes = Number.POSITIVE_INFINITY } = options;
  const servers = await openServers();
  const endsAtMs = performance.now() + minutes * 60_000;
  const summary: Summary = {
    ...{ played: 0, walletCalls: 0, undecided: 0 },
    ...{ failures: [], came: new Map() },
  };
  const nextSeed = dealer(first, seeds, jobs);
  const lanes = Array.from({ length: jobs }, () => new Lane(servers));
  const progress = setInterval(() => {
    log(`… ${summary.played} histories, ${summary.failures.length} failures`);
  }, PROGRESS_MS);
  const playAll = async (lane: Lane, index: number) => {
    for (;;) {
      const seed = performance.now() > endsAtMs ? undefined : nextSeed(index);
      if (seed === undefined) return;
      const plan = writePlan(seed, steps);
      const verdict = await lane.play(plan).catch(async (error: unknown) => {
        // A deployment that does not start on an overloaded machine gets a second chance.
        log(`seed ${seed} is played again: ${String(error).split('\n')[0]}`);
        return await lane.play(plan);
      });
      add(summary, verdict);
      const fails = verdict.findings.length > 0;
      if (options.printsAll || fails) log(storiesText(verdict));
      if (!fails) continue;
      summary.failures.push(verdict);
      log(`seed ${seed} (${plan.layout}) FAILS:\n${findingsText(verdict)}`);
      log(`  again: ${commandFor(verdict, steps)}`);
    }
  };
  try {
    await Promise.all(lanes.map(playAll));
  } finally {
    clearInterval(progress);
    await Promise.all(lanes.map((lane) => lane.close()));
    await servers.close();
  }
  return summary;
}

/** Plays one history after another, each in a deployment of its layout. */
class Lane {
  readonly #servers: Servers;
  readonly #deployments = new Map<Layout, Deployment>();

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** @throws Error when a deployment cannot be opened, or the harness itself fails */
  async play(plan: Plan): Promise<Verdict> {
    const { layout } = plan;
    const deployment =
      this.#deployments.get(layout) ?? (await openDeployment(this.#servers, layout));
    this.#deployments.set(layout, deployment);
    let isClean = false;
    try {
      const verdict = await play(plan, deployment);
      isClean = verdict.findings.length === 0;
      return verdict;
    } finally {
      // The next histories must not find what a failure has left behind.
      if (!isClean) {
        this.#deployments.delete(layout);
        await deployment.close();
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#deployments.values()].map((deployment) => deployment.close()));
  }
}

function add(summary: Summary, { walletCalls, undecided, came }: Verdict): void {
  summary.played += 1;
  summary.walletCalls += walletCalls;
  summary.undecided += undecided;
  for (const [name, times] of came) summary.came.set(name, (summary.came.get(name) ?? 0) + times);
}

/** Deals seeds to lanes; those of one layout share its seeds, so that a waiting one holds up nobody. */
function dealer(first: number, count: number, jobs: number): (lane: number) => number | undefined {
  const groups = Math.min(jobs, LAYOUTS.length);
  const next = Array.from(
    { length: groups },
    (_, group) => first + ((group - (first % groups) + groups) % groups),
  );
  return (lane) => {
    const group = lane % groups;
    const seed = next[group] ?? first + count;
    if (seed >= first + count) return undefined;
    next[group] = seed + groups;
    return seed;
  };
}
