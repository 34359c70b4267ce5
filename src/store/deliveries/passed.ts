import { sql } from '../schema/prisma.ts';

/**
 * Whether a later operation of its bet has passed a dead letter `d`, which the journal did not see while it was dead (I6). A
 * result that the wallet refused has passed nothing: the service was told so, and goes by what it was told before.
 */
export const IS_PASSED = sql`EXISTS (
  SELECT 1 FROM operations o
   WHERE o.transaction_id = d.transaction_id AND o.id > d.operation_id AND NOT o.is_copy
     AND CASE d.operation
           WHEN 'rollback' THEN false
           WHEN 'update' THEN o.operation IN ('update', 'rollback')
           ELSE o.operation = 'rollback'
             OR (o.operation IN ('settle', 'unsettle') AND NOT EXISTS (
                   SELECT 1 FROM attempts a WHERE a.operation_id = o.id AND a.answer_status = 400))
         END)`;
