import { ANSWERED_STATUS } from '../bets/answered.ts';
import { raw, type Sql, sql } from '../schema/prisma.ts';

/**
 * The service was answered 200 for the dead letter `d`, and relies on that: itself, or, while it waited, by a copy of
 * its request, which bears the time of that promise. A dead letter made under `unknownRepeats: hold` was answered 503:
 * there the service relies on a later answer.
 */
const WAS_PROMISED = sql`EXISTS (
  SELECT 1 FROM operations p
   WHERE p.transaction_id = d.transaction_id AND ${raw(ANSWERED_STATUS)} = 200
     AND (p.id = d.operation_id
          OR p.is_copy AND p.operation = d.operation AND p.id > d.operation_id
             AND strpos(p.answer_body, '"' || d.transaction_time || '"') > 0))`;

/**
 * No wallet has accepted the result `o`, and the service was promised nothing: it was refused (code 100 is not a
 * refusal), or never sent.
 */
const WAS_NOT_TAKEN = sql`EXISTS (
  SELECT 1 FROM attempts a
   WHERE a.operation_id = o.id AND a.answer_status <> 200
     AND (a.result = 'declined' AND a.code <> 100 OR NOT a.sent))`;

/**
 * The service was answered 200 from the journal, by `o`, for another result than that of the dead letter `d`: the one that
 * stood before it. It goes by that from then on. A copy of the request of `d` bears the time of that promise.
 */
const ANSWERED_ANOTHER = sql`o.answer_status = 200
              AND strpos(o.answer_body, '"' || d.transaction_time || '"') = 0`;

/** @param notTaken SQL: the later result `o` is to be ignored, so that it has not overtaken `d` */
function passedUnless(notTaken: Sql): Sql {
  return sql`EXISTS (
  SELECT 1 FROM operations o
   WHERE o.transaction_id = d.transaction_id AND o.id > d.operation_id
     AND CASE d.operation
           WHEN 'rollback' THEN false
           WHEN 'update' THEN o.operation IN ('update', 'rollback') AND NOT o.is_copy
           ELSE o.operation = 'rollback'
             OR (o.operation IN ('settle', 'unsettle')
                 AND CASE WHEN o.is_copy THEN ${ANSWERED_ANOTHER} ELSE NOT (${notTaken}) END)
         END)`;
}

/**
 * Whether a later operation of the bet has overtaken the dead letter `d`, because the journal does not wait for dead
 * letters (I6); then `d` is never sent again. A result that no wallet accepted overtakes nothing that was promised.
 */
export const IS_PASSED = passedUnless(sql`${WAS_PROMISED} AND ${WAS_NOT_TAKEN}`);

/**
 * Whether the wallet may hold a later operation than the dead letter `d`, or holds what the service was answered again
 * since: if so, `d` does not become the bet's result when a person resolves it. Results that no wallet accepted do not
 * count, whatever the service was answered.
 */
export const IS_OVERWRITTEN = passedUnless(WAS_NOT_TAKEN);
