import { type Prisma, sql } from '../schema/prisma.ts';

/**
 * How many bytes of a wallet's answers the story of one bet shows, over all attempts. A delivery that was refused for
 * days has thousands of attempts, whose answers together could exhaust the heap of a process (I7).
 */
export const SHOWN_BYTES_MAX = 1_048_576;

/** The key of an attempt's row. */
export interface AnsweredAttempt {
  readonly operationId: bigint;
  readonly number: number;
  readonly startedAt: Date;
}

interface Row {
  readonly operation_id: bigint;
  readonly number: number;
  readonly started_at: Date;
  readonly body: Uint8Array | null;
}

/** The wallet's answer to an attempt: null if it is left out, undefined if there was none. */
export type WalletAnswers = (attempt: AnsweredAttempt) => Uint8Array | null | undefined;

/**
 * Reads at most `bytesMax` bytes of the answers to attempts of these operations, beginning with the first and the last
 * attempts of each operation: those in between usually repeat the same answer.
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function walletAnswers(
  prisma: Prisma,
  operationIds: readonly bigint[],
  bytesMax: number,
): Promise<WalletAnswers> {
  if (operationIds.length === 0) return () => undefined;
  const ids = operationIds.map(String);
  const rows = await prisma.$queryRaw<readonly Row[]>(sql`
    WITH ranked AS (
      SELECT operation_id, number, started_at, octet_length(wallet_body) AS bytes,
             least(row_number() OVER (PARTITION BY operation_id ORDER BY number, started_at),
                   row_number() OVER (PARTITION BY operation_id ORDER BY number DESC, started_at DESC)) AS from_end
        FROM attempts WHERE operation_id = ANY (${ids}::bigint[]) AND wallet_body IS NOT NULL
    ), summed AS (
      SELECT operation_id, number, started_at,
             sum(bytes) OVER (ORDER BY from_end, operation_id, number, started_at) AS bytes_so_far
        FROM ranked
    )
    SELECT s.operation_id, s.number, s.started_at,
           CASE WHEN s.bytes_so_far <= ${String(bytesMax)}::bigint THEN a.wallet_body END AS body
      FROM summed s JOIN attempts a USING (operation_id, number, started_at)
     WHERE a.operation_id = ANY (${ids}::bigint[])`);
  const bodies = new Map(
    rows.map((row) => [keyOf(row.operation_id, row.number, row.started_at), row.body]),
  );
  return ({ operationId, number, startedAt }) => bodies.get(keyOf(operationId, number, startedAt));
}

function keyOf(operationId: bigint, number: number, startedAt: Date): string {
  return `${operationId} ${number} ${startedAt.getTime()}`;
}
