/** Which tests share their processes; the others have one for each file. Read by `vitest.config.ts`. */

/**
 * Tests that start no server and no process and wait for nothing: `npm run test:unit`, in seconds. A
 * test that asks for PostgreSQL or Redis fails there, because none is started.
 */
export const UNIT = [
  'test/*.test.ts',
  'test/bonuses/{read-back,service,translation}/*.test.ts',
  'test/{callbacks,deliveries}/unit/*.test.ts',
  'test/console/{story,text}.test.ts',
  'test/config/!(watch|watcher|source|reload-report).test.ts',
  'test/domain/*.test.ts',
  'test/engine/*.test.ts',
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

/**
 * Tests whose gateways live in the test's own process and are closed again: what one file has loaded
 * and the compiler has made fast serves the next. Not those that start processes, listen for signals,
 * or count what a process has open, and none that imports hooks (`test/architecture.test.ts`).
 */
export const SHARED = [
  'test/{admin,books,callbacks,certify,openapi,operators,people,redis}/**/*.test.ts',
  'test/bonuses/!(kill).test.ts',
  'test/deliveries/!(dead|workers).test.ts',
  'test/fuzz/!(schemathesis).test.ts',
  'test/http/!(connections|descriptors).test.ts',
  'test/money-safety/!(frozen-replica|killed).test.ts',
  'test/sessions/!(key-rotation|sessions).test.ts',
  'test/store/**/*.test.ts',
  'test/telemetry/!(logs|log-output|tracing).test.ts',
  'test/wallets/!(isolation|wallet).test.ts',
  'test/wallets/adapters/*.test.ts',
];
