import { type Sql, sql } from '../schema/prisma.ts';

/**
 * The service was answered 200 for the dead letter `d`, and goes by that. For one that `unknownRepeats: hold` made it was
 * answered 503: it goes by what it is told later.
 */
const WAS_PROMISED = sql`EXISTS (
  SELECT 1 FROM operations p
   WHERE p.id = d.operation_id
     AND coalesce(p.answer_status, (
           SELECT a.answer_status FROM attempts a
            WHERE a.operation_id = p.id AND a.answer_status IS NOT NULL ORDER BY a.number LIMIT 1)) = 200)`;

/**
 * No wallet has taken the result `o`, and nothing of it is promised: it was refused (100 says nothing), or never left.
 * `connection` is not among these: a connection that broke has the same name as one that was never made.
 */
const WAS_NOT_TAKEN = sql`EXISTS (
  SELECT 1 FROM attempts a
   WHERE a.operation_id = o.id AND a.answer_status <> 200
     AND (a.result = 'declined' AND a.code <> 100
          OR a.result IN ('breaker', 'bulkhead', 'deadline', 'maintenance', 'suspended', 'rate', 'database')))`;

/** @param notTaken whether the later result `o` is none that has passed `d` */
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
 * Whether a later operation of its bet has passed a dead letter `d`, which the journal did not see while it was dead
 * (I6): it is not sent any more. A result that no wallet has taken has passed none that the service was promised.
 */
export const IS_PASSED = passedUnless(sql`${WAS_PROMISED} AND ${WAS_NOT_TAKEN}`);

/**
 * Whether the wallet may hold something later than a dead letter `d`, so that it does not count as what it holds when a
 * person resolves it. What no wallet has taken, it does not hold, whatever the service was answered for `d`.
 */
export const IS_OVERWRITTEN = passedUnless(WAS_NOT_TAKEN);
