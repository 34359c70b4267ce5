import type { Makers } from './makers.ts';

/** PostgreSQL and Redis, as seen by this process. */
export function serverMetrics({ gauge }: Makers) {
  return {
    postgresqlUp: gauge('gateway_postgresql_up', 'Whether it answers and takes writes', [], 'min'),
    monthsMissing: gauge(
      'gateway_journal_months_missing',
      'Months, of this one and the next two, whose tables could not be made',
      [],
      'max',
    ),
    connections: gauge('gateway_postgresql_connections', 'Connections of the pool, by state', [
      'state',
    ]),
    connectionsMax: gauge(
      'gateway_postgresql_connections_max',
      'Connections the pool may open',
      [],
    ),
    connectionsWaiting: gauge(
      'gateway_postgresql_waiting',
      'Statements that wait for a connection of the pool',
      [],
    ),
    redisUp: gauge('gateway_redis_up', 'Whether Redis answers and takes writes', [], 'min'),
    redisPolicy: gauge(
      'gateway_redis_eviction_policy',
      "Redis's maxmemory-policy (always 1)",
      ['policy'],
      'max',
    ),
  };
}
