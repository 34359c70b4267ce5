import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, failuresText, openDeployment } from './support/deployment.ts';
import { OF_WALLETS, titleOf } from './support/scenarios.ts';

/** `INTERLEAVINGS=all`: every order, and once more with one fault at any step, which takes hours. */
const IS_ALL = process.env.INTERLEAVINGS === 'all';
const ORDERS_MAX = IS_ALL ? Number.POSITIVE_INFINITY : 3;
const FAULTS = IS_ALL ? [0, 1] : [0];

describe('a wallet that is replaced and released to, beside a bet’s operations (I4, I5)', () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment('queue');
  });
  afterAll(() => deployment.close());

  const scenarios = FAULTS.flatMap((faults) => OF_WALLETS.map((one) => ({ ...one, faults })));
  it.each(scenarios.map((scenario) => [titleOf(scenario), scenario] as const))(
    '%s',
    { timeout: 1_800_000 },
    async (title, scenario) => {
      const explored = await deployment.explore(scenario, ORDERS_MAX);
      if (IS_ALL) console.log(`${title}: ${explored.orders} orders`);
      expect(failuresText(explored)).toBe('');
      expect(explored.orders).toBeGreaterThan(0);
    },
  );
});
