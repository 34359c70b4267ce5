import { CODES } from '../../../src/domain/codes.ts';
import { classOf, OPERATIONS } from '../../../src/domain/operation.ts';
import { countFromZero } from '../../../src/telemetry/counting.ts';
import { DURATION_BUCKETS_SECONDS } from '../../../src/telemetry/makers.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';

const OUTCOMES = ['accepted', 'declined', 'unknown', 'duplicate'];
const RESULTS = ['accepted', 'declined', 'timeout'];
const REASONS = ['breaker', 'bulkhead', 'deadline'];
const DELIVERED = ['rollback', 'update'] as const;
const METHODS = ['templates', 'template', 'player/bonuses', 'bonus/applyBatch'];
const STATES = ['pending', 'delivered', 'dead'];

/**
 * Metrics as after a busy week: every operator has had every operation, most outcomes, and wallet calls and answers
 * of every duration.
 */
export function busyMetrics(operators: number): Metrics {
  const metrics = createMetrics();
  metrics.collectProcessMetrics();
  const ids = Array.from({ length: operators }, (_, index) => `operator-${index + 1}`);
  countFromZero(metrics, ids);
  for (const operator of ids) busyOperator(metrics, operator);
  return metrics;
}

function busyOperator(metrics: Metrics, operator: string): void {
  for (const operation of OPERATIONS) {
    for (const edge of DURATION_BUCKETS_SECONDS) {
      metrics.callbackDuration.observe({ operator, operation }, edge * 0.9);
      metrics.walletRequestDuration.observe({ operator, operation }, edge * 0.8);
    }
    for (const outcome of OUTCOMES) metrics.callbacks.inc({ operator, operation, outcome }, 12_345);
    for (const result of RESULTS)
      metrics.walletRequests.inc({ operator, operation, result }, 9_876);
    metrics.duplicates.inc({ operator, operation, source: 'journal' }, 17);
    const labels = { operator, class: classOf(operation) };
    metrics.breakerState.set(labels, 0);
    metrics.inFlight.set(labels, 3);
  }
  for (const reason of REASONS) metrics.rejected.inc({ operator, reason }, 5);
  for (const code of [CODES.notEnoughMoney, CODES.stakeLimit]) {
    metrics.walletDeclines.inc({ operator, code: `${code}` }, 99);
  }
  for (const operation of DELIVERED) {
    for (const state of STATES) metrics.deliveries.set({ operator, operation, state }, 7);
    metrics.deliveryAttempts.inc({ operator, operation, result: 'accepted' }, 70);
  }
  for (const method of METHODS) {
    metrics.bonusRequests.inc({ operator, method, outcome: 'answered' }, 3);
  }
  metrics.deliveryOldest.set({ operator }, 12.5);
  metrics.rollbackOldest.set({ operator }, 12.5);
  metrics.operatorInfo.set({ operator, status: 'active' }, 1);
}
