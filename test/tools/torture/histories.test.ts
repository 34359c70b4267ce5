import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { readOptions } from '../../../tools/torture/run/options.ts';
import { findingsText } from '../../../tools/torture/run/report.ts';
import { run } from '../../../tools/torture/run/run.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** One for each layout, with a deployment each; `.ci/run` plays 200 after the tests. */
const FIRST_SEED = 1;
const SEEDS = 4;

// Sources from before the one engine fail them.
describe.runIf(existsSync(join(ROOT, 'src/engine')))('random histories', () => {
  it('leave service and wallets with the same books (I1-I6)', { timeout: 400_000 }, async () => {
    process.env.TEST_DATABASE_URL = inject('postgresUrl');
    const told: string[] = [];
    const args = ['--seed', `${FIRST_SEED}`, '--seeds', `${SEEDS}`, '--no-shrink', '--jobs', '4'];
    const options = { ...readOptions(args), source: ROOT };
    const { played, failures } = await run(options, { log: (line) => told.push(line) });
    expect(failures.map(findingsText), told.join('\n')).toEqual([]);
    expect(played).toBe(SEEDS);
  });
});
