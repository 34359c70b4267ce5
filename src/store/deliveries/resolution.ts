import { type Authority, auditSql } from '../audit/audited.ts';
import { type Prisma, sql } from '../schema/prisma.ts';
import { IS_OVERWRITTEN } from './passed.ts';

interface Resolved {
  /** A person or a ticket, for the record. */
  readonly who: string;
  readonly why: string;
  readonly by: Authority;
}

/**
 * What the dead letter `d` brings. One of a confirmation, of a wallet that came to be one that pays repeats again, does
 * not say: that stands at its bet `b` already.
 */
const AMOUNT = sql`CASE d.purpose WHEN 'confirm' THEN b.settlement_amount ELSE d.settle_amount END`;
const TYPE = sql`CASE d.purpose WHEN 'confirm' THEN b.settlement_type ELSE d.settle_type END`;

/** How often a delivery is looked at again whose bet moved at that moment. */
const ROUNDS_MAX = 3;

/**
 * Marks a dead delivery as resolved by hand, with its row in the audit. A result that nothing has
 * overtaken counts from then on as what the wallet holds, and is never confirmed by itself (`isResolved`): a
 * person has looked. Nothing is sent. What may land late stays so: a later result has to be confirmed over it.
 * @returns false when it is not dead (any more)
 */
export async function resolveDead(
  prisma: Prisma,
  id: bigint,
  resolved: Resolved,
): Promise<boolean> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (await resolveUnmoved(prisma, id, resolved)) return true;
  }
  return false;
}

/**
 * Whether something has overtaken it, is looked up among the operations that were there when the
 * statement began. Each of them moves the version of its bet: where it has moved while the statement
 * waited for the row, a newer result may stand there, and nothing is written.
 */
async function resolveUnmoved(
  prisma: Prisma,
  id: bigint,
  { who, why, by }: Resolved,
): Promise<boolean> {
  const resolved = await prisma.$executeRaw(sql`
    WITH seen AS MATERIALIZED (
      SELECT b.transaction_id, b.version
        FROM deliveries d JOIN bets b ON b.transaction_id = d.transaction_id
       WHERE d.id = ${id} AND d.state = 'dead'
    ), unmoved AS MATERIALIZED (
      SELECT b.transaction_id
        FROM seen JOIN bets b ON b.transaction_id = seen.transaction_id AND b.version = seen.version
         FOR UPDATE OF b
    ), changed AS (
      UPDATE deliveries d
         SET state = 'resolved', resolved_by = ${who}, resolved_why = ${why},
             settled_at = clock_timestamp()
        FROM unmoved
       WHERE d.id = ${id} AND d.state = 'dead'
      RETURNING d.*
    ), bet AS (
      UPDATE bets b
         SET settlement = CASE d.operation WHEN 'settle' THEN 'settled' ELSE 'unsettled' END,
             settlement_amount = ${AMOUNT}, settlement_type = ${TYPE},
             settlement_time = d.transaction_time, standing_operation_id = d.operation_id,
             version = b.version + 1
        FROM changed d
       WHERE b.transaction_id = d.transaction_id AND d.operation IN ('settle', 'unsettle')
         AND b.rollback = 'none'
         AND (d.purpose = 'promise' OR b.standing_operation_id = d.operation_id)
         -- An update or a confirmation on its way says nothing of the result.
         AND coalesce(b.busy_operation, 'update') IN ('update', 'confirm')
         AND NOT ${IS_OVERWRITTEN}
    ) ${auditSql(
      by,
      'delivery.resolve',
      sql`SELECT 'delivery ' || id, operator_id, jsonb_build_object('state', 'dead'),
                 jsonb_build_object('state', 'resolved', 'by', ${who}::text) FROM changed`,
    )}`);
  return resolved > 0;
}
