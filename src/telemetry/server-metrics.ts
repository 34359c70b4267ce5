import type { Makers } from './makers.ts';

/** PostgreSQL and Redis, as seen by this process. */
export function serverMetrics({ gauge }: Makers) {
  return {
    postgresqlUp: gauge('gateway_postgresql_up', 'Whether it answers and takes writes', [], 'min'),
    connectionsWaiting: gauge(
      'gateway_postgresql_waiting',
      'Statements that wait for a connection of the pool',
      [],
    ),
    redisUp: gauge('gateway_redis_up', 'Whether Redis answers and takes writes', [], 'min'),
  };
}
