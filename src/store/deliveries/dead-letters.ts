import { RESULT_TYPES } from '../../domain/bet.ts';
import {
  type BetOfDeadLetter,
  type DeadLetter,
  type LaterOperation,
  resultOfResolved,
} from '../../domain/dead-letter.ts';
import { DELIVERY_PURPOSES } from '../../domain/delivery.ts';
import { BET_OPERATIONS, DELIVERABLE_OPERATIONS } from '../../domain/operation.ts';
import { type Authority, auditSql } from '../audit/audited.ts';
import { settlementColumns } from '../bets/columns.ts';
import { ANSWERED_STATUS, attemptFacts, attemptFactsOf } from '../bets/recorded.ts';
import { BUSY_OPERATIONS, ROLLBACKS, settlementOf } from '../bets/rows.ts';
import { type Prisma, raw, sql } from '../schema/prisma.ts';
import { Columns } from '../sql/statement.ts';

/** Tries of a person's decision if a bet changes meanwhile. */
export const ROUNDS_MAX = 3;

/** A dead letter as it was read: a decision on it is written only if its bet has not changed. */
export interface ReadDeadLetter {
  readonly id: bigint;
  readonly transactionId: string;
  readonly version: number;
  readonly bet: BetOfDeadLetter;
  readonly dead: DeadLetter;
}

/** Oldest first, each with its bet and later operations, grouped because thousands may be equal. Omits others. */
export async function readDeadLetters(
  prisma: Prisma,
  ids: readonly bigint[],
): Promise<readonly ReadDeadLetter[]> {
  const rows = await prisma.$queryRaw<readonly Readonly<Record<string, unknown>>[]>(sql`
    SELECT d.id::text, d.operation, d.operation_id::text, d.purpose, d.transaction_time,
           d.settle_amount, d.settle_type,
           b.transaction_id, b.version, b.rollback, b.busy_operation,
           b.standing_operation_id::text, b.settlement, b.settlement_amount, b.settlement_type,
           b.settlement_time,
           (SELECT ${raw(ANSWERED_STATUS)} FROM operations p
             WHERE p.transaction_id = d.transaction_id AND p.id = d.operation_id) AS answer_status,
           (SELECT jsonb_agg(l) FROM (
              SELECT DISTINCT p.operation, p.is_copy, p.answer_status,
                     coalesce(strpos(p.answer_body, '"' || d.transaction_time || '"') > 0, false)
                       AS bears_its_time,
                     ${raw(attemptFacts('p.id'))} AS attempts
                FROM operations p
               WHERE p.transaction_id = d.transaction_id AND p.id > d.operation_id) l) AS later
      FROM deliveries d JOIN bets b ON b.transaction_id = d.transaction_id
     -- By their ids, whatever the statistics say of all that are dead.
     WHERE d.id = ANY (${ids}::bigint[]) AND d.state IS NOT DISTINCT FROM 'dead'
     ORDER BY d.id`);
  return rows.map((row) => readOf(new Columns(row)));
}

function readOf(row: Columns): ReadDeadLetter {
  return {
    id: BigInt(row.text('id')),
    transactionId: row.text('transaction_id'),
    version: row.int('version'),
    bet: {
      rollback: row.oneOf('rollback', ROLLBACKS),
      busyOperation: row.oneOfOrNull('busy_operation', BUSY_OPERATIONS),
      standingOperationId: row.textOrNull('standing_operation_id'),
      settlement: settlementOf(row),
    },
    dead: deadLetterOf(row),
  };
}

function deadLetterOf(row: Columns): DeadLetter {
  const resultType = row.oneOfOrNull('settle_type', RESULT_TYPES);
  return {
    operation: row.oneOf('operation', DELIVERABLE_OPERATIONS),
    operationId: row.text('operation_id'),
    purpose: row.oneOf('purpose', DELIVERY_PURPOSES),
    transactionTime: row.text('transaction_time'),
    settle: resultType && { amount: row.text('settle_amount'), resultType },
    answerStatus: row.intOrNull('answer_status'),
    later: row.rowsOrNull('later').map(laterOf),
  };
}

function laterOf(row: Columns): LaterOperation {
  return {
    operation: row.oneOf('operation', BET_OPERATIONS),
    isCopy: row.bool('is_copy'),
    answerStatus: row.intOrNull('answer_status'),
    bearsItsTime: row.bool('bears_its_time'),
    attempts: row.rowsOrNull('attempts').map(attemptFactsOf),
  };
}

interface Resolved {
  /** A person or a ticket, for the record. */
  readonly who: string;
  readonly why: string;
  readonly by: Authority;
}

/**
 * Resolves a dead delivery by hand, with its row in the audit. Its result becomes the bet's (`resultOfResolved`),
 * without a confirmation (`isResolved`); a later result is confirmed, because lost attempts may take effect late.
 * @returns false if it is not dead, or its bet kept changing
 */
export async function resolveDead(
  prisma: Prisma,
  id: bigint,
  resolved: Resolved,
): Promise<boolean> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const [read] = await readDeadLetters(prisma, [id]);
    if (read === undefined) return false;
    if (await resolveUnmoved(prisma, read, resolved)) return true;
  }
  return false;
}

/** Every operation of a bet increments its version: the same version means that nothing came in between. */
async function resolveUnmoved(
  prisma: Prisma,
  { id, transactionId, version, bet, dead }: ReadDeadLetter,
  { who, why, by }: Resolved,
): Promise<boolean> {
  const result = resultOfResolved(bet, dead);
  const { settlement, amount, type, time } = settlementColumns(result ?? bet.settlement);
  const standing = result === undefined ? null : dead.operationId;
  const resolved = await prisma.$executeRaw(sql`
    WITH unmoved AS MATERIALIZED (
      SELECT transaction_id FROM bets
       WHERE transaction_id = ${transactionId} AND version = ${version} FOR UPDATE
    ), changed AS (
      UPDATE deliveries d
         SET state = 'resolved', resolved_by = ${who}, resolved_why = ${why},
             settled_at = clock_timestamp()
        FROM unmoved
       WHERE d.id = ${id} AND d.state = 'dead'
      RETURNING d.*
    ), bet AS (
      UPDATE bets b
         SET settlement = ${settlement}, settlement_amount = ${amount}, settlement_type = ${type},
             settlement_time = ${time},
             standing_operation_id = coalesce(${standing}::bigint, b.standing_operation_id),
             -- Also if nothing else changes: what was decided without this decision is decided again.
             version = b.version + 1
        FROM changed d
       WHERE b.transaction_id = d.transaction_id
    ) ${auditSql(
      by,
      'delivery.resolve',
      sql`SELECT 'delivery ' || id, operator_id, jsonb_build_object('state', 'dead'),
                 jsonb_build_object('state', 'resolved', 'by', ${who}::text) FROM changed`,
    )}`);
  return resolved > 0;
}
