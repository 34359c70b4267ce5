import { BetWriter } from './bets.ts';
import { writeFaults } from './faults.ts';
import { MOTIFS } from './motifs.ts';
import { type BetPlan, LAYOUTS, type Layout, OPERATORS, type Plan } from './plan.ts';
import { Random } from './random.ts';

/** A history of so many steps is begun within this time for each of them. */
const MS_A_STEP = 25;

const CROWD_SHARE = 0.06;
const CROWD_MS = 500;
const NOT_ENOUGH_MONEY = 7;

/**
 * Decides a whole history by its seed. Pure: the same seed and number of steps give the same plan.
 * @param steps about how many things the service does; at least 1
 */
export function writePlan(seed: number, steps: number): Plan {
  const random = new Random(seed);
  // Neighbouring seeds take turns, so that a run of many keeps houses of every layout busy.
  const layout = LAYOUTS[seed % LAYOUTS.length] ?? 'one';
  const spanMs = steps * MS_A_STEP;
  if (random.chance(CROWD_SHARE)) return crowdOfDeclines(random, seed, layout, steps);
  const bets: BetPlan[] = [];
  for (let written = 0; written < steps; ) {
    const writer = new BetWriter(random, bets.length);
    const isForgotten = random.weighted(MOTIFS)(writer, random);
    const bet = writer.done(random.whole(0, spanMs), { isForgotten });
    bets.push(bet);
    written += bet.steps.length;
  }
  return { seed, layout, bets, faults: writeFaults(random, bets, layout, spanMs) };
}

/** Players without money crowd one operator, whose wallet says no, and well: the others must play. */
function crowdOfDeclines(random: Random, seed: number, layout: Layout, steps: number): Plan {
  const operator = random.pick(OPERATORS);
  const bets: BetPlan[] = [];
  for (let index = 0; index < steps; index += 1) {
    const writer = new BetWriter(random, index, operator);
    writer.place();
    if (random.chance(0.75)) writer.fates.decline('place', 0, NOT_ENOUGH_MONEY);
    bets.push(writer.done(random.whole(0, CROWD_MS)));
  }
  return { seed, layout, bets, faults: [] };
}
