import type { Busy } from '../domain/bet.ts';
import type { Engine } from './engine.ts';

/**
 * Counts an unknown outcome of a place, settle or unsettle (docs/reference.md, Metrics). Rollbacks and updates are
 * promised and repeated, and a confirmation changes nothing: none of them counts.
 */
export function countUnknown(
  { metrics }: Pick<Engine, 'metrics'>,
  operatorId: string | undefined,
  operation: Busy['operation'],
): void {
  if (operation === 'rollback' || operation === 'update' || operation === 'confirm') return;
  metrics.unknownOutcomes.inc({ operator: operatorId ?? 'unknown', operation });
}
