import { OPERATIONS } from '../domain/operation.ts';
import { REPAIRED_FIELDS } from '../domain/read-repairs.ts';
import type { Metrics } from './metrics.ts';

/** Operations that can be answered with an unknown outcome. */
const ANSWERED_OPERATIONS = ['place', 'settle', 'unsettle'];

/** Starts the counters of alerts at zero: the first event of a new counter shows no increase. */
export function countFromZero(metrics: Metrics, operatorIds: Iterable<string>): void {
  for (const caller of ['service', 'unknown']) metrics.signatureFailures.inc({ caller }, 0);
  for (const result of ['ok', 'invalid']) metrics.configReloads.inc({ result }, 0);
  metrics.rejected.inc({ operator: 'unknown', reason: 'path' }, 0);
  for (const operation of OPERATIONS) {
    metrics.callbacks.inc({ operator: 'unknown', operation, outcome: 'invalid' }, 0);
  }
  const ofNobody = { operator: 'unknown', operation: 'rollback', outcome: 'not_sent' };
  metrics.callbacks.inc(ofNobody, 0);
  metrics.conflicts.inc({ operator: 'unknown' }, 0);
  for (const operator of operatorIds) {
    metrics.conflicts.inc({ operator }, 0);
    metrics.signatureFailures.inc({ caller: operator }, 0);
    metrics.walletDeclines.inc({ operator, code: '1' }, 0);
    for (const field of REPAIRED_FIELDS) metrics.repairedAnswers.inc({ operator, field }, 0);
    for (const operation of ['rollback', 'update']) {
      metrics.repairedCallbacks.inc({ operator, operation }, 0);
    }
    for (const operation of ANSWERED_OPERATIONS) {
      metrics.unknownOutcomes.inc({ operator, operation }, 0);
    }
  }
}

/** Counts a reload of the configuration. */
export function countReload(
  metrics: Metrics,
  result: 'ok' | 'invalid',
  invalidFiles: readonly string[],
): void {
  metrics.configReloads.inc({ result });
  noteReading(metrics, invalidFiles);
}

/** Shows which files were invalid when they were read; the reading at start-up is not counted as a reload. */
export function noteReading(metrics: Metrics, invalidFiles: readonly string[]): void {
  metrics.configInvalid.reset();
  for (const file of invalidFiles) metrics.configInvalid.set({ file }, 1);
}
