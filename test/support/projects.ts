/** Which tests share their processes; the others have a process for each file. Read by `vitest.config.ts`. */

/**
 * Tests that start no server and no process and wait for nothing: `npm run test:unit`, in seconds. A test that
 * needs PostgreSQL or Redis fails there, because none is started.
 */
export const UNIT = [
  'test/*.test.ts',
  'test/bonuses/{read-back,service,translation}/*.test.ts',
  'test/{operations,deliveries}/unit/*.test.ts',
  'test/console/{odd-rollback,severity,story,text}.test.ts',
  'test/config/!(watch|watcher|source|reload-report).test.ts',
  'test/config/*/*.test.ts',
  'test/domain/*.test.ts',
  'test/fuzz/{configuration,protocol}.test.ts',
  'test/grafana/{dashboards,provisioning}.test.ts',
  'test/helm/*.test.ts',
  'test/image/{compose,environment}.test.ts',
  'test/lib/*.test.ts',
  'test/outbound/bulkhead.test.ts',
  'test/protocol/*.test.ts',
  'test/tools/scripts.test.ts',
  'test/wiring/*.test.ts',
];

/**
 * Tests that have a process each: they listen for signals, change what the whole process shares (its environment,
 * its standard streams), or count what it has open. All others share a few processes, so that code that one file
 * has loaded and compiled serves the next.
 */
export const ALONE = ['test/telemetry/tracing.test.ts', 'test/tools/demo/*.test.ts'];
