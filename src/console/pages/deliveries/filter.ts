import type { Answers } from '../../api/wire.ts';
import { known } from '../../app/search.ts';

/** As in the page's address; an absent filter means all. */
export interface DeliveryFilter {
  readonly operator?: string | undefined;
  readonly state?: string | undefined;
  readonly operation?: string | undefined;
}

export const readFilter = known('operator', 'state', 'operation');

/** States from which a person can have a delivery retried. */
export const RETRYABLE: ReadonlySet<string> = new Set(['dead', 'pending', 'held']);

/** Every operator that may have deliveries, including those whose file is gone. */
export function operatorIds({
  items,
  withoutFile,
}: Answers['GET /admin/operators']): readonly string[] {
  return [...items, ...withoutFile].map(({ id }) => id);
}
