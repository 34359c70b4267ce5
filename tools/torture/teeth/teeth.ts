import { openServers } from '../deployment/servers.ts';
import { writePlan } from '../plan/write-plan.ts';
import type { Verdict } from '../play/verdict.ts';
import { playAtLast } from '../run/histories.ts';
import { Lane } from '../run/lane.ts';
import type { Options } from '../run/options.ts';
import { commandFor } from '../run/report.ts';
import { run } from '../run/run.ts';
import type { Bug } from './bug.ts';
import { BUGS } from './bugs.ts';
import { plant } from './plant.ts';

const SEEDS_MAX = 200;
/** Findings that say nothing about a bug while the machine is busy. */
const OF_A_BUSY_MACHINE: ReadonlySet<string> = new Set([
  'lateAnswer',
  'droppedCall',
  'neverAnswered',
  'undelivered',
]);

export interface Bite {
  readonly bug: Bug;
  /** How many histories were played until one showed the bug; undefined: none did. */
  readonly took: number | undefined;
  readonly verdict: Verdict | undefined;
}

/**
 * Plants one bug after another in a copy of the gateway and plays until a history shows it. A failure that the
 * unchanged gateway shows as well does not count.
 * @throws OutOfDate when a bug no longer fits the source
 */
export async function tryTeeth(
  options: Options,
  log: (line: string) => void,
): Promise<readonly Bite[]> {
  const { bugs: names = BUGS.map(({ name }) => name) } = options;
  const bugs = names.map((name) => {
    const bug = BUGS.find((one) => one.name === name);
    if (bug === undefined) throw new RangeError(`no bug is named ${name}`);
    return bug;
  });
  const bites: Bite[] = [];
  for (const bug of bugs) {
    const bite = await tryBug(bug, options, log);
    bites.push(bite);
    log(rowOf(bite, options.steps));
  }
  return bites;
}

async function tryBug(bug: Bug, options: Options, log: (line: string) => void): Promise<Bite> {
  const planted = await plant(bug, options.source);
  const servers = await openServers();
  const clean = new Lane(servers, [options.source]);
  let found: Verdict | undefined;
  let played = 0;
  try {
    await run(
      {
        ...options,
        seeds: Math.min(options.seeds, SEEDS_MAX),
        source: planted.folder,
        shrinks: false,
      },
      {
        log: () => undefined,
        onPlayed: () => {
          played += 1;
        },
        stopsAt: async (verdict) => {
          const without = await playAtLast(clean, writePlan(verdict.plan.seed, options.steps), log);
          const isOwn = verdict.findings.some(
            ({ kind }) =>
              !OF_A_BUSY_MACHINE.has(kind) &&
              !without.findings.some((other) => other.kind === kind),
          );
          if (isOwn) found ??= verdict;
          else log(`  seed ${verdict.plan.seed} fails without ${bug.name} too`);
          return isOwn;
        },
      },
    );
    return { bug, took: found === undefined ? undefined : played, verdict: found };
  } finally {
    await clean.close();
    await servers.close();
    await planted.remove();
  }
}

/** A row of the documentation's table. */
function rowOf({ bug, took, verdict }: Bite, steps: number): string {
  if (verdict === undefined) return `| ${bug.name} | ${bug.what} | NOT FOUND | | |`;
  const kinds = [...new Set(verdict.findings.map(({ kind }) => kind))].join(', ');
  return `| ${bug.name} | ${bug.what} | ${took} | ${kinds} | \`${commandFor(verdict, steps, false)}\` |`;
}
