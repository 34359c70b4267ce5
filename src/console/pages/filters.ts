import { known } from '../app/search.ts';

// Filters as in the addresses of pages: an absent one means all, times are days or ISO 8601.

export const readAuditFilter = known('actor', 'action', 'operator', 'from', 'to');

/** `amount` is the stake. */
export const readBetFilter = known(
  'transactionId',
  'operator',
  'operatorUser',
  'userId',
  'state',
  'amount',
  'from',
  'to',
);

/** Both days are included. */
export const readBooksFilter = known('operator', 'currency', 'from', 'to');
export type BooksFilter = ReturnType<typeof readBooksFilter>;

export const readDeliveryFilter = known('operator', 'state', 'operation');
export type DeliveryFilter = ReturnType<typeof readDeliveryFilter>;
