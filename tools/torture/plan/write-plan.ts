import { BetWriter } from './bets.ts';
import { writeFaults } from './faults.ts';
import { MOTIFS } from './motifs.ts';
import { type BetPlan, LAYOUTS, type Plan } from './plan.ts';
import { Random } from './random.ts';

/** A history begins its bets within this time per step. */
const MS_A_STEP = 25;

/** Decides a whole history from its seed. Pure. @param steps about how many operations; at least 1 */
export function writePlan(seed: number, steps: number): Plan {
  const random = new Random(seed);
  // Neighbouring seeds take turns, so that a long run keeps deployments of every layout busy.
  const layout = LAYOUTS[seed % LAYOUTS.length] ?? 'one';
  const spanMs = steps * MS_A_STEP;
  const bets: BetPlan[] = [];
  for (let written = 0; written < steps; ) {
    const writer = new BetWriter(random, bets.length);
    const isForgotten = random.weighted(MOTIFS)(writer, random);
    const bet = writer.done(random.whole(0, spanMs), isForgotten);
    bets.push(bet);
    written += bet.steps.length;
  }
  return { seed, layout, bets, faults: writeFaults(random, bets, layout, spanMs) };
}
