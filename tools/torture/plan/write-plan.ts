import { BetWriter } from './bets.ts';
import { writeFaults } from './faults.ts';
import { MOTIFS } from './motifs.ts';
import { ODD_SCENES, ODD_SHARE } from './odd-scenes.ts';
import { type BetPlan, LAYOUTS, type Plan } from './plan.ts';
import { Random } from './random.ts';
import { SCENES_SHARE, scenesFor } from './scenes.ts';

/** A history begins its bets within this time per step. */
const MS_A_STEP = 25;
/** Chosen so that none of the seeds with which docs/verification.md shows a planted bug plays an odd scene. */
const ODD = 0x15b;

/**
 * Decides a whole history from its seed. Pure: the same seed and number of steps give the same plan.
 * @param steps about how many operations the service sends; at least 1
 */
export function writePlan(seed: number, steps: number): Plan {
  // With a random source of its own: seeds without an odd scene keep the history that they had before these were
  // added.
  const odd = new Random(seed ^ ODD);
  if (odd.chance(ODD_SHARE)) {
    const layout = LAYOUTS[seed % LAYOUTS.length] ?? 'one';
    return { seed, layout, ...odd.weighted(ODD_SCENES)(odd, steps) };
  }
  const random = new Random(seed);
  // Neighbouring seeds take turns, so that a long run keeps deployments of every layout busy.
  const layout = LAYOUTS[seed % LAYOUTS.length] ?? 'one';
  if (random.chance(SCENES_SHARE)) {
    return { seed, layout, ...random.weighted(scenesFor(layout))(random, steps) };
  }
  const spanMs = steps * MS_A_STEP;
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
