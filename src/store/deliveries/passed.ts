import type { NotSentReason, WalletFault } from '../../domain/wallet-answer.ts';
import { ANSWERED_STATUS } from '../bets/answered.ts';
import { raw, type Sql, sql } from '../schema/prisma.ts';

/**
 * The service was answered 200 for the dead letter `d`, and goes by that. For one that `unknownRepeats: hold` made it
 * was answered 503, and goes by what it is told later.
 */
const WAS_PROMISED = sql`EXISTS (
  SELECT 1 FROM operations p WHERE p.id = d.operation_id AND ${raw(ANSWERED_STATUS)} = 200)`;

/**
 * What only an attempt that was never sent is recorded as. Not `connection`: a connection that broke is recorded by
 * the same word as one that was never made.
 */
const NEVER_SENT = Object.keys({
  breaker: true,
  bulkhead: true,
  deadline: true,
  maintenance: true,
  suspended: true,
  rate: true,
  database: true,
} satisfies Record<Exclude<NotSentReason, WalletFault>, true>);

/**
 * No wallet has taken the result `o`, and nothing of it is promised: it was refused (code 100 refuses nothing), or
 * never sent.
 */
const WAS_NOT_TAKEN = sql`EXISTS (
  SELECT 1 FROM attempts a
   WHERE a.operation_id = o.id AND a.answer_status <> 200
     AND (a.result = 'declined' AND a.code <> 100
          OR a.result = ANY (${NEVER_SENT}::text[])))`;

/** @param notTaken whether the later result `o` counts for nothing, so that it has not passed `d` */
function passedUnless(notTaken: Sql): Sql {
  return sql`EXISTS (
  SELECT 1 FROM operations o
   WHERE o.transaction_id = d.transaction_id AND o.id > d.operation_id AND NOT o.is_copy
     AND CASE d.operation
           WHEN 'rollback' THEN false
           WHEN 'update' THEN o.operation IN ('update', 'rollback')
           ELSE o.operation = 'rollback'
             OR (o.operation IN ('settle', 'unsettle') AND NOT (${notTaken}))
         END)`;
}

/**
 * Whether a later operation of its bet has passed the dead letter `d`, which the journal did not wait for (I6): then
 * `d` is not sent any more. A result that no wallet has taken passes nothing that the service was promised.
 */
export const IS_PASSED = passedUnless(sql`${WAS_PROMISED} AND ${WAS_NOT_TAKEN}`);

/**
 * Whether the wallet may hold something later than the dead letter `d`: then `d` does not count as what the wallet
 * holds when a person resolves it. What no wallet has taken it does not hold, whatever the service was answered.
 */
export const IS_OVERWRITTEN = passedUnless(WAS_NOT_TAKEN);
