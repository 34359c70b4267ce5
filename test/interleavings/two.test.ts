import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, failuresText, openDeployment } from './support/deployment.ts';
import { OF_ANOTHER_GATEWAY, TWO, titleOf } from './support/scenarios.ts';

/** `INTERLEAVINGS=all`: once more with one fault at any step, which takes minutes. */
const FAULTS = process.env.INTERLEAVINGS === 'all' ? [0, 1] : [0];

describe('two operations of one bet, in every order of their steps (I3-I6)', () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment();
  });
  afterAll(() => deployment.close());

  const scenarios = FAULTS.flatMap((faults) =>
    [...TWO, ...OF_ANOTHER_GATEWAY].map((one) => ({ ...one, faults })),
  );
  it.each(scenarios.map((scenario) => [titleOf(scenario), scenario] as const))(
    '%s',
    { timeout: 600_000 },
    async (_, scenario) => {
      const explored = await deployment.explore(scenario);
      expect(failuresText(explored)).toBe('');
      expect(explored.isComplete).toBe(true);
      expect(explored.orders).toBeGreaterThan(1);
    },
  );
});
