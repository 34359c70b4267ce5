import { known } from '../../app/search.ts';

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

/** As in the page's address; times are days or ISO 8601. */
export type BetFilter = ReturnType<typeof readBetFilter>;
