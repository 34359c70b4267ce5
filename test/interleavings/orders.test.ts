import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, failuresText, openDeployment } from './support/deployment.ts';
import { ANSWERED_503, PROMISED, type Sampled, titleOf } from './support/scenarios.ts';

/** `INTERLEAVINGS=all`: every order of each scenario, with one fault more, which takes hours. */
const IS_ALL = process.env.INTERLEAVINGS === 'all';

describe.each([
  ['error', ANSWERED_503],
  ['queue', PROMISED],
] as const)(
  'operations of one bet in many orders of their steps, at `settle.onFailure: %s` (I3-I6)',
  (onFailure, all) => {
    let deployment: Deployment;
    beforeAll(async () => {
      deployment = await openDeployment(onFailure);
    });
    afterAll(() => deployment.close());

    it.each(all.map((one) => [titleOf(one.scenario), one] as const))(
      '%s',
      { timeout: IS_ALL ? 3_600_000 : 120_000 },
      async (_, { scenario, ordersMax }: Sampled) => {
        const explored = IS_ALL
          ? await deployment.explore({ ...scenario, faults: scenario.faults + 1 })
          : await deployment.explore(scenario, ordersMax);
        expect(failuresText(explored)).toBe('');
        expect(explored.orders).toBeGreaterThan(0);
      },
    );
  },
);
