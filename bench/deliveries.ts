import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { type DrainResult, drainBacklog, drainLine } from './deliveries/drain.ts';
import { type MemoryResult, memoryLine, watchMemory } from './deliveries/memory.ts';
import { openScene } from './deliveries/scene.ts';
import { DELIVERIES_HELP, readSettings } from './deliveries/settings.ts';
import { measureSweep, type SweepResult, sweepLine } from './deliveries/sweep.ts';
import { judged } from './support/result.ts';

/**
 * Measures deliveries: how fast a backlog drains, how much memory waiting costs, and what the sweep costs when the
 * table is long.
 *
 * @returns 1 if a delivery never reached the wallet, or reached it twice
 * @throws SettingsError
 */
export async function runDeliveries(args: readonly string[]): Promise<number> {
  const settings = readSettings(args);
  if (settings.help) {
    console.log(DELIVERIES_HELP);
    return 0;
  }
  await using scene = await openScene();
  const drain = await drainBacklog(scene, settings);
  console.log(drainLine(drain));
  if (settings.profile) return tellMistakes(drain.mistakes);

  const memory = await watchMemory(scene, settings.waiting);
  console.log(memoryLine(memory));
  console.log(`filling the table with ${settings.rows} delivered rows`);
  const sweep = await measureSweep(scene, settings.rows);
  console.log(sweepLine(sweep));
  await writeResult(settings.resultFile, { drain, memory, sweep });
  return tellMistakes(drain.mistakes);
}

function tellMistakes(mistakes: readonly string[]): number {
  for (const mistake of mistakes) console.error(`WRONG: ${mistake}`);
  return mistakes.length === 0 ? 0 : 1;
}

async function writeResult(
  file: string,
  results: {
    readonly drain: DrainResult;
    readonly memory: MemoryResult;
    readonly sweep: SweepResult;
  },
): Promise<void> {
  const result = {
    benchmark: 'deliveries',
    measuredAt: new Date().toISOString(),
    on: {
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
      processors: availableParallelism(),
    },
    targets: [
      judged({ what: 'confirmed a second', value: results.drain.perSecond, atLeast: 5_000 }),
    ],
    ...results,
  };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(result, null, 2)}\n`);
}
