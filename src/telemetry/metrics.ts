import { collectDefaultMetrics, type Registry } from 'prom-client';
import pkg from '../../package.json' with { type: 'json' };
import { callbackMetrics, walletMetrics } from './call-metrics.ts';
import { type Makers, makers } from './makers.ts';

/** A delivery takes between a fraction of a second and its horizon of days. */
const LAG_BUCKETS_SECONDS = [0.1, 0.5, 1, 2, 5, 15, 60, 360, 3600, 21600, 86400, 259200];

const STARTED_AT = 'process_start_time_seconds';

/** Gauges that prom-client names like counters, and also exposes by type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Every metric of the gateway (docs/reference.md, Metrics), on a registry of its own. Labels are of bounded
 * cardinality: operators and fixed words, never a user, token or transaction.
 */
export function createMetrics() {
  const make = makers();
  const { registry, gauge } = make;
  gauge('gateway_build_info', 'Version of the gateway (always 1)', ['version'], 'max').set(
    { version: pkg.version },
    1,
  );

  return {
    registry,
    /** Prometheus's text format. */
    text: () => expositionText(registry),
    ...callbackMetrics(make),
    ...walletMetrics(make),
    ...deliveryMetrics(make),
    ...bonusMetrics(make),
    ...booksMetrics(make),
    ...processMetrics(make),
    ...serverMetrics(make),
    /** Adds prom-client's own process and runtime metrics; once per process. */
    collectProcessMetrics: () => {
      collectDefaultMetrics({ register: registry });
      for (const name of [...MISNAMED, STARTED_AT]) registry.removeSingleMetric(name);
      // prom-client omits it when processes are combined; the youngest one's start shows that processes keep dying.
      gauge(STARTED_AT, 'Start time of the process, in seconds since 1970', [], 'max').set(
        Math.round(Date.now() / 1_000 - process.uptime()),
      );
    },
  };
}

/** Deliveries: accepted, retried until a wallet confirms. */
function deliveryMetrics({ counter, gauge, histogram }: Makers) {
  return {
    deliveries: gauge('gateway_deliveries', 'Deliveries by state', [
      'operator',
      'operation',
      'state',
    ]),
    deliveryOldest: gauge('gateway_delivery_oldest_seconds', 'Age of the oldest pending delivery', [
      'operator',
    ]),
    rollbackOldest: gauge('gateway_rollback_oldest_seconds', 'Age of the oldest pending rollback', [
      'operator',
    ]),
    resultOldest: gauge('gateway_result_oldest_seconds', 'Age of the oldest pending result', [
      'operator',
    ]),
    deliveryAttempts: counter('gateway_delivery_attempts_total', 'Delivery attempts, by result', [
      'operator',
      'operation',
      'result',
    ]),
    deliveryLag: histogram(
      'gateway_delivery_lag_seconds',
      'From accepting a delivery to its confirmation',
      [],
      LAG_BUCKETS_SECONDS,
    ),
    drains: counter(
      'gateway_drains_total',
      'Slices in which deliveries were drained, by what triggered them',
      ['by'],
    ),
  };
}

/** The service's bonus API, by operator. */
function bonusMetrics({ counter, gauge }: Makers) {
  return {
    bonusRequests: counter('gateway_bonus_requests_total', 'Bonus API requests, by outcome', [
      'operator',
      'method',
      'outcome',
    ]),
    bonusOpenIntents: gauge(
      'gateway_bonus_open_intents',
      'Creations and batches whose outcome is not known',
      ['operator', 'kind'],
      'max',
    ),
  };
}

/** The books: what the wallets confirmed. */
function booksMetrics({ gauge }: Makers) {
  const booksLag = gauge(
    'gateway_books_lag_seconds',
    'Age of the oldest attempt that is not booked yet; 0 where all are',
    [],
    'max',
  );
  // Removed, because a gauge starts at 0: a process that keeps no books has no lag to report.
  booksLag.remove();
  return {
    booksLag,
    booksViolations: gauge(
      'gateway_books_violations',
      'What the checker of the books found that must not be, by rule; must be 0',
      ['rule'],
      'max',
    ),
    reconciliationDifferences: gauge(
      'gateway_reconciliation_differences',
      "Differences of each operator's newest reconciliation that nobody has resolved, by kind",
      ['operator', 'kind'],
      'max',
    ),
  };
}

/** The gateway itself and its configuration. */
function processMetrics({ counter, gauge }: Makers) {
  return {
    configReloads: counter('gateway_config_reloads_total', 'Configuration reloads, by result', [
      'result',
    ]),
    operatorInfo: gauge(
      'gateway_operator_info',
      'Configured operators (always 1)',
      ['operator', 'status'],
      'max',
    ),
    configInvalid: gauge(
      'gateway_config_invalid',
      'Files of the configuration that were invalid when they were last read (1; absent: valid)',
      ['file'],
      'max',
    ),
    tokensBehind: gauge(
      'gateway_tokens_behind',
      'Sessions whose tokens are not sealed by the first encryption key, by state',
      ['state'],
      'max',
    ),
  };
}

/** PostgreSQL and Redis, as seen by this process. */
function serverMetrics({ gauge }: Makers) {
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

/** Prometheus's text format, metric by metric: callbacks run in between. */
export async function* expositionText(registry: Registry | Promise<Registry>) {
  const metrics = await registry;
  for (const { name } of metrics.getMetricsAsArray()) {
    yield `${await metrics.getSingleMetricAsString(name)}\n`;
  }
}
