import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BonusScenario, playBonuses } from './support/bonus-play.ts';
import { type BonusWorld, openBonusWorld } from './support/bonus-world.ts';
import { explore, textOf } from './support/explore.ts';

/** `INTERLEAVINGS=all`: thousands of orders of each, with up to two faults, which takes minutes. */
const IS_ALL = process.env.INTERLEAVINGS === 'all';
const ORDERS_MAX = IS_ALL ? 2_500 : 10;
const FAULTS = IS_ALL ? [0, 1, 2] : [1];
const LANES = 6;

const LOST_TEMPLATE = ['time passes', 'looks for templates'] as const;
const LOST_BATCH = ['time passes', 'looks for bonuses', 'looks for bonuses'] as const;

const PLAYS: readonly BonusScenario['actors'][] = [
  [['alpha makes One'], ['alpha makes One'], LOST_TEMPLATE],
  [['alpha makes Same'], ['beta makes Same'], ['looks for templates', ...LOST_TEMPLATE]],
  [['alpha makes One'], LOST_TEMPLATE, LOST_TEMPLATE],
  [['alpha gives ann+ben'], ['alpha gives ann+ben'], LOST_BATCH],
  [
    ['alpha gives ann+ben', 'alpha gives ann+ben'],
    [...LOST_BATCH, 'closes'],
    ['looks for bonuses', 'time passes', 'looks for bonuses'],
  ],
  [['alpha gives ann'], ['beta gives ann'], LOST_BATCH],
  [['alpha makes One'], [...LOST_TEMPLATE, ...LOST_TEMPLATE], ['the service catches up']],
  [['alpha gives ann'], [...LOST_BATCH, ...LOST_BATCH], ['the service catches up']],
];

let world: BonusWorld;
beforeAll(async () => {
  world = await openBonusWorld();
});
afterAll(() => world.close());

const scenarios = PLAYS.flatMap((actors) => FAULTS.map((faults) => ({ actors, faults })));

describe('operators’ bonus calls beside the read-back are made once, told alike, and end (I3, I5, I8)', () => {
  it.each(scenarios.map((one) => [titleOf(one), one] as const))(
    '%s',
    { timeout: 600_000 },
    async (title, scenario) => {
      const explored = await explore({
        ...{ lanes: LANES, ordersMax: ORDERS_MAX },
        play: (_, course) => playBonuses(world, scenario, course),
      });
      if (IS_ALL) console.log(`${title}: ${explored.orders} orders`);
      const texts = explored.failures.map(({ why, moves }) =>
        [why, ...moves.map(textOf)].join('\n'),
      );
      expect(texts.join('\n\n')).toBe('');
      expect(explored.orders).toBeGreaterThan(0);
    },
  );
});

function titleOf({ actors, faults }: BonusScenario): string {
  return `${actors.map((acts) => acts.join(', ')).join(' | ')}; ${faults} faults`;
}
