import { defineConfig } from 'vitest/config';
import { COMPILED_FOLDER } from './test/support/compiled.ts';
import { MixedOrder } from './test/support/mixed-order.ts';
import { ALONE, UNIT } from './test/support/projects.ts';
import { PATIENT_MS } from './test/support/timing.ts';

const GLOBAL_SETUP = 'test/support/global-setup.ts';
const AFTER_EACH_FILE = 'test/support/after-each-file.ts';

// Hundreds of processes load the same code: compiled once, they start in half the time.
process.env.NODE_COMPILE_CACHE ??= COMPILED_FOLDER;
// Whatever a test asks is on this machine.
delete process.env.NODE_USE_ENV_PROXY;

export default defineConfig({
  test: {
    pool: 'forks',
    // Loaded by Node itself, as in production; no test replaces a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // More than the cores of a small machine: most tests wait for sockets, not for the processor.
    maxWorkers: 5,
    // What a test makes is gone soon: less garbage is collected twice.
    execArgv: ['--max-semi-space-size=32'],
    sequence: { sequencer: MixedOrder },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: PATIENT_MS } },
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
          include: ['test/**/*.test.ts'],
          exclude: [...UNIT, ...ALONE],
          isolate: false,
          globalSetup: GLOBAL_SETUP,
          setupFiles: AFTER_EACH_FILE,
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          exclude: UNIT,
          globalSetup: GLOBAL_SETUP,
          setupFiles: AFTER_EACH_FILE,
        },
      },
    ],
  },
});
