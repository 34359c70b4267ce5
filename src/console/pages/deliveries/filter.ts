import { known } from '../../app/search.ts';

export const readFilter = known('operator', 'state', 'operation');

/** As in the page's address; an absent filter means all. */
export type DeliveryFilter = ReturnType<typeof readFilter>;

/** States from which a person can have a delivery retried. */
export const RETRYABLE: ReadonlySet<string> = new Set(['dead', 'pending', 'held']);
