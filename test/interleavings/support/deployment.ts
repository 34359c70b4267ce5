import { type Explored, explore, textOf } from './explore.ts';
import { playScenario, type Scenario } from './play.ts';
import { type Lane, openWorld, type World } from './world.ts';

const LANES = ['a', 'b', 'c'].map((letter) => `lane-${letter}`);

/** A gateway's core on real servers, in which orders of steps are played. */
export interface Deployment {
  /** @param ordersMax default: all of them */
  explore(scenario: Scenario, ordersMax?: number): Promise<Explored>;
  close(): Promise<void>;
}

/** @param onFailure the operators' `settle.onFailure` */
export async function openDeployment(onFailure: 'error' | 'queue' = 'error'): Promise<Deployment> {
  const world: World = await openWorld(LANES, onFailure);
  const lanes: Lane[] = [];
  for (const id of LANES) lanes.push(await world.lane(id));
  return {
    explore: async (scenario, ordersMax = Number.POSITIVE_INFINITY) =>
      await explore({
        lanes: lanes.length,
        ordersMax,
        play: async (index, course) => {
          const lane = lanes[index];
          if (lane === undefined) throw new Error(`there is no lane ${index}`);
          return await playScenario(world, lane, scenario, course);
        },
      }),
    close: () => world.close(),
  };
}

/** The findings, each with the order that shows it. */
export function failuresText({ failures }: Explored): string {
  return failures.map(({ why, moves }) => [why, ...moves.map(textOf)].join('\n')).join('\n\n');
}
