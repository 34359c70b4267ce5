import type { DeliverableOperation } from '../../domain/operation.ts';
import { type Prisma, sql } from '../schema/prisma.ts';

/** Of one operator, in one piece of the walk. */
interface PieceRow {
  readonly operator: string;
  /** All that was read, whatever its operation. */
  readonly read: number;
  readonly held: number;
  readonly free: number;
  /** The highest id that was read. */
  readonly last: bigint;
}

interface Piece {
  readonly rows: readonly PieceRow[];
  readonly isLast: boolean;
}

interface Walk {
  readonly state: 'pending' | 'dead';
  readonly operator: string | undefined;
  readonly operation: DeliverableOperation | undefined;
  /** How many rows one statement reads. */
  readonly atOnce: number;
}

/**
 * What waits or is dead, piece by piece in the order of its index: operator after operator, many of them in one
 * statement. With a statement for each operator, a thousand of them took six seconds, and no time limit held.
 */
export async function* openPieces(
  prisma: Prisma,
  { state, operator, operation, atOnce }: Walk,
): AsyncGenerator<Piece> {
  const isOurs = operator === undefined ? sql`true` : sql`operator_id = ${operator}`;
  const isMeant = operation === undefined ? sql`true` : sql`operation = ${operation}`;
  for (let after = { operator: '', last: 0n }; ; ) {
    const rows = await prisma.$queryRaw<PieceRow[]>(sql`
      SELECT operator_id AS operator, count(*)::int AS read,
             count(*) FILTER (WHERE held AND ${isMeant})::int AS held,
             count(*) FILTER (WHERE NOT held AND ${isMeant})::int AS free,
             max(id) AS last
        FROM (SELECT operator_id, id, operation, held FROM deliveries
               WHERE state = ${state} AND ${isOurs}
                 AND (operator_id, id) > (${after.operator}, ${after.last})
               ORDER BY operator_id, id LIMIT ${atOnce}) piece
       GROUP BY operator_id ORDER BY operator_id`);
    const last = rows.at(-1);
    const isLast = last === undefined || rows.reduce((sum, { read }) => sum + read, 0) < atOnce;
    yield { rows, isLast };
    if (isLast) return;
    after = last;
  }
}
