import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUGS } from '../../tools/torture/teeth/bugs.ts';
import { plant } from '../../tools/torture/teeth/plant.ts';
import { failuresText, openDeployment } from './support/deployment.ts';
import type { Scenario } from './support/play.ts';
import { titleOf } from './support/scenarios.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** A bug of the torture test, the scenario that shows it, and the finding. */
const TEETH: readonly (readonly [bug: string, where: Scenario, as: RegExp])[] = [
  [
    'stale-read',
    { begins: 'placed', actors: [['settle 20'], ['settle 50']], faults: 0 },
    /was sent while/,
  ],
  [
    'lease-ignored',
    { begins: 'placed', actors: [['settle 20'], ['rollback']], faults: 0 },
    /was sent while/,
  ],
  [
    'no-tombstone',
    { begins: 'placed', actors: [['rollback', 'copy of place'], ['copy of rollback']], faults: 0 },
    /told 200 after its rollback/,
  ],
  [
    'decline-on-timeout',
    { begins: 'unknown', actors: [['place'], ['copy of place']], faults: 1 },
    /placed: false/,
  ],
  [
    'send-before-commit',
    { begins: 'unknown', actors: [['place'], ['copy of place']], faults: 0 },
    /sent twice/,
  ],
  [
    'never-confirmed',
    { begins: 'placed', actors: [['settle 20', 'settle 50']], faults: 1 },
    /the wallet holds/,
  ],
];

describe('the interleavings see bugs', () => {
  it.each(TEETH)('%s', { timeout: 300_000 }, async (name, scenario, as) => {
    const bug = BUGS.find((one) => one.name === name);
    if (bug === undefined) throw new Error(`no bug is named ${name}`);
    const planted = await plant(bug, ROOT);
    const deployment = await openDeployment(planted.folder);
    try {
      const explored = await deployment.explore(scenario);
      expect(failuresText(explored), titleOf(scenario)).toMatch(as);
    } finally {
      await deployment.close();
      await planted.remove();
    }
  });
});
