import { type Parameters, statement } from '../sql/statement.ts';
import { RECORDED, recordedOf } from './statements.ts';

/*
 * What a bet was asked for as its result. A bet that is resettled for months, or whose result the service repeats through
 * an outage of days, has thousands: each costs some thirty pages to read, as `RECORDED` looks at its attempts.
 */

export interface ResultPage {
  readonly transactionId: string;
  /** Only results that were recorded before this operation; undefined: the newest. */
  readonly before: string | undefined;
  readonly limit: number;
}

/** The next results of a bet, newest first. Of all others only the ids are read. */
export const RESULT_PAGE = statement(
  'bet-result-page',
  {
    transaction_id: ['text', ({ transactionId }) => transactionId],
    before: ['bigint', ({ before }) => before ?? null],
    limit: ['int', ({ limit }) => limit],
  } satisfies Parameters<ResultPage>,
  `
  WITH mine AS MATERIALIZED (
    SELECT id FROM operations
     WHERE transaction_id = :transaction_id AND operation IN ('settle', 'unsettle')
  ), page AS MATERIALIZED (
    SELECT id FROM mine WHERE :before IS NULL OR id < :before ORDER BY id DESC LIMIT :limit
  )
  ${RECORDED} AND o.id = ANY (ARRAY(SELECT id FROM page))
   ORDER BY o.id DESC`,
  recordedOf,
);

export interface ResultKey {
  readonly transactionId: string;
  readonly requestId: string;
  /** Only this operation, and results that were recorded before it. */
  readonly upTo: string;
}

/** A bet's results up to one of them that were asked for under one `requestId`. */
export const RESULTS_UNDER = statement(
  'bet-results-under',
  {
    transaction_id: ['text', ({ transactionId }) => transactionId],
    request_id: ['text', ({ requestId }) => requestId],
    up_to: ['bigint', ({ upTo }) => upTo],
  } satisfies Parameters<ResultKey>,
  `${RECORDED} AND o.operation IN ('settle', 'unsettle') AND o.request_id = :request_id AND o.id <= :up_to
   ORDER BY o.id DESC`,
  recordedOf,
);

export interface OperationKey {
  readonly transactionId: string;
  readonly operationId: string;
}

export const RECORDED_OPERATION = statement(
  'bet-operation',
  {
    transaction_id: ['text', ({ transactionId }) => transactionId],
    operation_id: ['bigint', ({ operationId }) => operationId],
  } satisfies Parameters<OperationKey>,
  `${RECORDED} AND o.id = :operation_id`,
  recordedOf,
);
