import { openServers } from '../deployment/servers.ts';
import { Histories, type Summary } from './histories.ts';
import { Dealer, Lane } from './lane.ts';
import type { Options } from './options.ts';

const PROGRESS_MS = 30_000;

/** Plays as many seeds as the options say. @returns the results of all of them */
export async function run(options: Options, log: (line: string) => void): Promise<Summary> {
  const servers = await openServers();
  const lanes = Array.from({ length: options.jobs }, () => new Lane(servers));
  const dealer = new Dealer(options.seed, options.seeds, options.jobs);
  const histories = new Histories(options, log);
  const progress = setInterval(() => log(histories.progress), PROGRESS_MS);
  try {
    await Promise.all(
      lanes.map(async (lane, index) => {
        for (const seed of dealer.seedsOf(index)) {
          if (histories.isOver) return;
          await histories.play(lane, seed);
        }
      }),
    );
  } finally {
    clearInterval(progress);
    await Promise.all(lanes.map((lane) => lane.close()));
    await servers.close();
  }
  return histories.summary;
}
