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
 * The result of the dead letter `d`. A dead letter of a confirmation does not store it: the bet `b` has it already.
 */
const AMOUNT = sql`CASE d.purpose WHEN 'confirm' THEN b.settlement_amount ELSE d.settle_amount END`;
const TYPE = sql`CASE d.purpose WHEN 'confirm' THEN b.settlement_type ELSE d.settle_type END`;

/** How often it is tried if the bet changes at that moment. */
const ROUNDS_MAX = 3;

/**
 * Marks a dead delivery as resolved by hand, with its row in the audit. Nothing is sent. If nothing has overtaken it,
 * a result becomes the bet's result, and is not confirmed (`isResolved`), because a person has checked it. Its
 * attempts may still take effect late, so a later result is confirmed.
 * @returns false if it is not dead (any more), or its bet kept changing
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
 * `IS_OVERWRITTEN` sees only the operations that existed when the statement began. Every operation increments its
 * bet's version: if that changed while the statement waited for the row lock, a newer result may stand, and
 * nothing is written.
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
         -- An update or a confirmation in flight does not change the result.
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
