import { defineConfig } from 'vitest/config';

/** The tests that Stryker plays against mutants: those without servers (`npm run mutants`). */
export default defineConfig({
  test: {
    include: [
      'test/{operations,deliveries}/unit/*.test.ts',
      'test/domain/*.test.ts',
      'test/protocol/*.test.ts',
    ],
    pool: 'forks',
    isolate: false,
    setupFiles: ['test/support/quick-failure.ts'],
  },
});
