import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, failuresText, openDeployment } from './support/deployment.ts';
import { OF_PEOPLE, OF_PEOPLE_PROMISED, titleOf } from './support/scenarios.ts';

/** `INTERLEAVINGS=all`: every order, and once more with one fault at any step, which takes an hour. */
const IS_ALL = process.env.INTERLEAVINGS === 'all';
const ORDERS_MAX = IS_ALL ? Number.POSITIVE_INFINITY : 2;
/** Of those with a fault, whose findings need a certain step to fail. */
const FAULTY_ORDERS_MAX = IS_ALL ? Number.POSITIVE_INFINITY : 30;
const FAULTS = IS_ALL ? [0, 1] : [0];

describe.each([
  ['error', OF_PEOPLE],
  ['queue', OF_PEOPLE_PROMISED],
] as const)(
  'what people do about a bet beside its operations, at `%s` (I4-I6, I12)',
  (onFailure, all) => {
    let deployment: Deployment;
    beforeAll(async () => {
      deployment = await openDeployment(onFailure);
    });
    afterAll(() => deployment.close());

    const scenarios = FAULTS.flatMap((faults) =>
      all.map((one) => ({ ...one, faults: Math.max(one.faults, faults) })),
    );
    it.each(scenarios.map((scenario) => [titleOf(scenario), scenario] as const))(
      '%s',
      { timeout: 1_800_000 },
      async (title, scenario) => {
        const explored = await deployment.explore(
          scenario,
          scenario.faults > 0 ? FAULTY_ORDERS_MAX : ORDERS_MAX,
        );
        if (IS_ALL) console.log(`${title}: ${explored.orders} orders`);
        expect(failuresText(explored)).toBe('');
        expect(explored.orders).toBeGreaterThan(0);
      },
    );
  },
);
