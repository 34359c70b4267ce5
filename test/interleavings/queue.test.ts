import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, failuresText, openDeployment } from './support/deployment.ts';
import type { Scenario } from './support/play.ts';
import { titleOf } from './support/scenarios.ts';

/** Each has up to ten thousand orders: `INTERLEAVINGS=all` plays them all, in minutes. */
const ORDERS_MAX = process.env.INTERLEAVINGS === 'all' ? Number.POSITIVE_INFINITY : 100;

/** The settle gets no answer, and the operation that waits for it gives up: that makes two faults. */
const SCENARIOS: readonly Scenario[] = [
  { begins: 'placed', actors: [['settle 20'], ['rollback']], faults: 2 },
  { begins: 'placed', actors: [['settle 20'], ['unsettle']], faults: 2 },
  { begins: 'placed', actors: [['settle 20', 'settle 50'], ['rollback']], faults: 1 },
];

describe('settles that may be promised, in many orders with faults at any step (I3-I6)', () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment('queue');
  });
  afterAll(() => deployment.close());

  it.each(SCENARIOS.map((scenario) => [titleOf(scenario), scenario] as const))(
    '%s',
    { timeout: 1_800_000 },
    async (title, scenario) => {
      const explored = await deployment.explore(scenario, ORDERS_MAX);
      if (process.env.INTERLEAVINGS === 'all') console.log(`${title}: ${explored.orders} orders`);
      expect(failuresText(explored)).toBe('');
      expect(explored.orders).toBeGreaterThanOrEqual(100);
    },
  );
});
