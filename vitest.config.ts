import { defineConfig } from 'vitest/config';
import { SHARED, UNIT } from './test/support/projects.ts';

const GLOBAL_SETUP = 'test/support/global-setup.ts';

export default defineConfig({
  test: {
    pool: 'forks',
    // More than the cores of a small machine: most tests wait for sockets, not for the processor.
    maxWorkers: 4,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        // Nothing in them outlives a file: they share their processes and what these have loaded.
        test: { name: 'unit', include: UNIT, isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          include: SHARED,
          exclude: UNIT,
          isolate: false,
          globalSetup: GLOBAL_SETUP,
        },
      },
      {
        extends: true,
        // A process a file: tests kill servers, listen for signals and count sockets.
        test: {
          name: 'servers',
          include: ['test/**/*.test.ts'],
          exclude: [...UNIT, ...SHARED],
          globalSetup: GLOBAL_SETUP,
        },
      },
    ],
  },
});
