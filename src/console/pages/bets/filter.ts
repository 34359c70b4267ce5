import { known } from '../../app/search.ts';

/** As in the page's address; times are days or ISO 8601. */
export interface BetFilter {
  readonly transactionId?: string | undefined;
  readonly operator?: string | undefined;
  readonly operatorUser?: string | undefined;
  readonly userId?: string | undefined;
  readonly state?: string | undefined;
  /** The stake. */
  readonly amount?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

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
