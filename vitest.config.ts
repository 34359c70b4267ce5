import { defineConfig } from 'vitest/config';

/**
 * Tests that start no server and no process and wait for nothing: `npm run test:unit`, in seconds. A
 * test that asks for PostgreSQL or Redis fails there, because none is started.
 */
const UNIT = [
  'test/*.test.ts',
  'test/bonuses/{read-back,translation}/*.test.ts',
  'test/console/{story,text}.test.ts',
  'test/config/!(watch|watcher|source|reload-report).test.ts',
  'test/domain/*.test.ts',
  'test/fuzz/{configuration,csv,protocol}.test.ts',
  'test/grafana/{dashboards,provisioning}.test.ts',
  'test/helm/*.test.ts',
  'test/image/{compose,environment}.test.ts',
  'test/lib/*.test.ts',
  'test/outbound/bulkhead.test.ts',
  'test/protocol/*.test.ts',
  'test/tools/scripts.test.ts',
  'test/tools/simulator/wallet/{flaw,ledger}.test.ts',
];

export default defineConfig({
  test: {
    // A process a file: tests kill servers, listen for signals and count sockets.
    pool: 'forks',
    // More than the cores of a small machine: most tests wait for sockets, not for the processor.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: UNIT,
          // Nothing in them outlives a file: they share their processes and what these have loaded.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'servers',
          include: ['test/**/*.test.ts'],
          exclude: UNIT,
          globalSetup: 'test/support/global-setup.ts',
        },
      },
    ],
  },
});
