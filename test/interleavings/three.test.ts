import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, failuresText, openDeployment } from './support/deployment.ts';
import { THREE, titleOf } from './support/scenarios.ts';

/** Each has some thousand orders: `INTERLEAVINGS=all` plays them all, in minutes. */
const ORDERS_MAX = process.env.INTERLEAVINGS === 'all' ? Number.POSITIVE_INFINITY : 8;

describe('three operations of one bet, in many orders of their steps (I3-I6)', () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment();
  });
  afterAll(() => deployment.close());

  it.each(THREE.map((scenario) => [titleOf(scenario), scenario] as const))(
    '%s',
    { timeout: 1_800_000 },
    async (title, scenario) => {
      const explored = await deployment.explore(scenario, ORDERS_MAX);
      if (process.env.INTERLEAVINGS === 'all') console.log(`${title}: ${explored.orders} orders`);
      expect(failuresText(explored)).toBe('');
      expect(explored.orders).toBeGreaterThanOrEqual(8);
    },
  );
});
