import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, failuresText, openDeployment } from './support/deployment.ts';
import type { Scenario } from './support/play.ts';
import { titleOf } from './support/scenarios.ts';

/** The others: `INTERLEAVINGS=all`. */
const SCENARIOS: readonly Scenario[] = [
  { begins: 'placed', actors: [['settle 20', 'settle 50']], faults: 1 },
  { begins: 'elsewhere', actors: [['settle 20', 'settle 50']], faults: 1 },
  { begins: 'elsewhere', actors: [['unsettle', 'rollback']], faults: 1 },
  { begins: 'unknown', actors: [['place'], ['rollback']], faults: 1 },
  { begins: 'unknown', actors: [['place'], ['copy of place']], faults: 1 },
];

/**
 * One step may fail: the process is killed there, PostgreSQL's answer is lost, the wallet executes the call without
 * an answer, not at all, or late, or a caller gives up waiting.
 */
describe('operations of one bet, in every order, with one fault at any step (I1-I6)', () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment();
  });
  afterAll(() => deployment.close());

  it.each(SCENARIOS.map((scenario) => [titleOf(scenario), scenario] as const))(
    '%s',
    { timeout: 300_000 },
    async (_, scenario) => {
      const explored = await deployment.explore(scenario);
      expect(failuresText(explored)).toBe('');
      expect(explored.isComplete).toBe(true);
      expect(explored.orders).toBeGreaterThan(15);
    },
  );
});
