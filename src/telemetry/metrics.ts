import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Fine below 100 ms, where wallets live; edges at the reserve and at the service's 5 s limit. */
const DURATION_BUCKETS_SECONDS = [
  0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.25, 0.5, 1, 2, 4, 4.8, 5, 10,
];

/** A delivery lags between a fraction of a second and the days of its horizon. */
const LAG_BUCKETS_SECONDS = [0.1, 0.5, 1, 2, 5, 15, 60, 360, 3600, 21600, 86400, 259200];

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Every metric of the gateway (CONTRACT section 7), on a registry of its own so that a test may
 * build several gateways in one process. Labels are of bounded cardinality: operators and words,
 * never a user, token or transaction.
 */
export function createMetrics() {
  const registry = new Registry();
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames, registers: [registry] });
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    // How one admin port shows several processes: what they share is not added up.
    aggregator: 'sum' | 'max' = 'sum',
  ) => new Gauge({ name, help, labelNames, aggregator, registers: [registry] });
  const histogram = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets = DURATION_BUCKETS_SECONDS,
  ) => new Histogram({ name, help, labelNames, buckets, registers: [registry] });

  return {
    registry,
    callbacks: counter('gateway_callbacks_total', 'Callbacks answered, by outcome', [
      'operator',
      'operation',
      'outcome',
    ]),
    callbackDuration: histogram(
      'gateway_callback_duration_seconds',
      'From the arrival of a callback to its answer',
      ['operator', 'operation'],
    ),
    walletRequests: counter('gateway_wallet_requests_total', 'Calls to wallets, by result', [
      'operator',
      'operation',
      'result',
    ]),
    walletRequestDuration: histogram(
      'gateway_wallet_request_duration_seconds',
      'From handing a call to the wallet connection to its outcome',
      ['operator', 'operation'],
    ),
    breakerState: gauge(
      'gateway_breaker_state',
      'Circuit breaker: 0 closed, 1 half-open, 2 open',
      ['operator', 'class'],
      'max',
    ),
    inFlight: gauge('gateway_in_flight', 'Wallet calls under way', ['operator', 'class']),
    rejected: counter('gateway_rejected_total', 'Calls not sent to a wallet, by reason', [
      'operator',
      'reason',
    ]),
    duplicates: counter('gateway_duplicates_total', 'Duplicates answered without a wallet call', [
      'operator',
      'operation',
      'source',
    ]),
    conflicts: counter('gateway_conflicts_total', 'Operations that contradict what is recorded', [
      'operator',
    ]),
    unknownOutcomes: counter(
      'gateway_unknown_outcomes_total',
      'Wallet calls whose effect the gateway cannot know',
      ['operator', 'operation'],
    ),
    deliveries: gauge('gateway_deliveries', 'Deliveries by state', [
      'operator',
      'operation',
      'state',
    ]),
    deliveryOldest: gauge(
      'gateway_delivery_oldest_seconds',
      'Age of the oldest delivery not yet home',
      ['operator'],
    ),
    deliveryAttempts: counter('gateway_delivery_attempts_total', 'Delivery attempts, by result', [
      'operator',
      'operation',
      'result',
    ]),
    deliveryLag: histogram(
      'gateway_delivery_lag_seconds',
      'From the promise of a delivery to its confirmation',
      [],
      LAG_BUCKETS_SECONDS,
    ),
    unresolved: gauge(
      'gateway_unresolved_bets',
      'Places of unknown outcome that nobody has rolled back yet',
      ['operator'],
    ),
    signatureFailures: counter('gateway_signature_failures_total', 'Requests refused unsigned', [
      'caller',
    ]),
    configReloads: counter('gateway_config_reloads_total', 'Configuration reloads, by result', [
      'result',
    ]),
    operatorInfo: gauge(
      'gateway_operator_info',
      'Configured operators (always 1)',
      ['operator', 'status'],
      'max',
    ),
    /** Adds prom-client's own process and runtime metrics; once per process. */
    collectProcessMetrics: () => collectDefaultMetrics({ register: registry }),
  };
}
