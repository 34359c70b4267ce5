/**
 * Of a connection whose statements may take long: no limit of time ends them. A server that has lost its
 * power says nothing, and whoever only waits for its answer would wait for ever.
 */
export const LONG_CONNECTION = {
  connectionTimeoutMillis: 10_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
} as const;
