import type { Answers } from '../../api/wire.ts';
import { known } from '../../app/search.ts';

/** As the page's address has it; nothing means all. */
export interface DeliveryFilter {
  readonly operator?: string | undefined;
  readonly state?: string | undefined;
  readonly operation?: string | undefined;
}

export const readFilter = known('operator', 'state', 'operation');

/** States out of which a person may have a delivery tried again. */
export const RETRYABLE: ReadonlySet<string> = new Set(['dead', 'pending', 'held']);

/** All that may have deliveries: those whose file is gone, too. */
export function operatorIds({
  items,
  withoutFile,
}: Answers['GET /admin/operators']): readonly string[] {
  return [...items, ...withoutFile].map(({ id }) => id);
}
