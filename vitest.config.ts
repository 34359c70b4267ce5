import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    // A process a file: tests kill servers, listen for signals and count sockets.
    pool: 'forks',
    // More than the cores of a small machine: most tests wait for sockets, not for the processor.
    maxWorkers: 3,
    // Short deadlines are missed when something else takes the processor; twice in a row is a bug.
    retry: process.env.CI === undefined ? 0 : 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
