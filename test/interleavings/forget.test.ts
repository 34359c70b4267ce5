import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, failuresText, openDeployment } from './support/deployment.ts';
import { FORGETTING, FORGETTING_PROMISED, titleOf } from './support/scenarios.ts';

/** `INTERLEAVINGS=all`: once more with one fault at any step, which takes minutes. */
const IS_ALL = process.env.INTERLEAVINGS === 'all';
const FAULTS = IS_ALL ? [0, 1] : [0];

describe.each([
  ['error', FORGETTING],
  ['queue', FORGETTING_PROMISED],
] as const)(
  'a player who is forgotten beside the operations of a bet, at `%s` (I4-I6, I12)',
  (onFailure, all) => {
    let deployment: Deployment;
    beforeAll(async () => {
      deployment = await openDeployment(onFailure);
    });
    afterAll(() => deployment.close());

    const scenarios = FAULTS.flatMap((faults) => all.map((one) => ({ ...one, faults })));
    it.each(scenarios.map((scenario) => [titleOf(scenario), scenario] as const))(
      '%s',
      { timeout: 600_000 },
      async (title, scenario) => {
        const explored = await deployment.explore(scenario);
        if (IS_ALL) console.log(`${title}: ${explored.orders} orders`);
        expect(failuresText(explored)).toBe('');
        expect(explored.orders).toBeGreaterThan(0);
      },
    );
  },
);
