import { type Prisma, sql } from '../schema/prisma.ts';

/** For one bet: a delivery refused for days has thousands of answers, which could exhaust a process's heap (I7). */
export const SHOWN_BYTES_MAX = 1_048_576;

export interface AttemptView {
  readonly number: number;
  readonly startedAt: string;
  readonly latencyMs: number;
  readonly result: string;
  readonly status: number | null;
  readonly code: number | null;
  /** In words for people; null if the wallet accepted. */
  readonly error: string | null;
  /** The wallet's answer as stored; null if there was none. */
  readonly answer: WalletAnswerView | null;
}

interface WalletAnswerView {
  readonly contentType: string | null;
  /** As text; bytes that are not UTF-8 become U+FFFD. */
  readonly body: string;
  /** Also true if the body is omitted here, as one of very many. */
  readonly truncated: boolean;
}

/** An attempt, with the service's answer because of it. */
interface ShownAttempt {
  readonly answerStatus: number | null;
  readonly answerBody: string | null;
  readonly view: AttemptView;
}

interface Row extends Omit<ShownAttempt, 'view'>, Omit<AttemptView, 'startedAt' | 'answer'> {
  readonly operationId: bigint;
  readonly startedAt: Date;
  readonly walletType: string | null;
  readonly walletTruncated: boolean;
  readonly hasBody: boolean;
  /** Null if there is none, or if it is omitted. */
  readonly walletBody: Uint8Array | null;
}

/**
 * The attempts in order, with at most `bytesMax` bytes of answers: each operation's first and last take precedence.
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function shownAttempts(
  prisma: Prisma,
  operationIds: readonly bigint[],
  bytesMax: number,
): Promise<ReadonlyMap<bigint, readonly ShownAttempt[]>> {
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
    SELECT a.operation_id AS "operationId", a.number, a.started_at AS "startedAt",
           a.latency_ms AS "latencyMs", a.result, a.status, a.code, a.error,
           a.answer_status AS "answerStatus", a.answer_body AS "answerBody",
           a.wallet_type AS "walletType", a.wallet_truncated AS "walletTruncated",
           a.wallet_body IS NOT NULL AS "hasBody",
           CASE WHEN s.bytes_so_far <= ${String(bytesMax)}::bigint THEN a.wallet_body END AS "walletBody"
      FROM attempts a LEFT JOIN summed s USING (operation_id, number, started_at)
     WHERE a.operation_id = ANY (${ids}::bigint[])
     ORDER BY a.operation_id, a.number`);
  // Grouped once: filtering per operation takes seconds for a bet that was resettled for months.
  const byOperation = Map.groupBy(rows, (row) => row.operationId);
  return new Map(Array.from(byOperation, ([id, own]) => [id, own.map(shownOf)]));
}

function shownOf(row: Row): ShownAttempt {
  const { number, latencyMs, result, status, code, error, answerStatus, answerBody } = row;
  const startedAt = row.startedAt.toISOString();
  const answer = walletAnswerOf(row);
  const view = { number, startedAt, latencyMs, result, status, code, error, answer };
  return { answerStatus, answerBody, view };
}

function walletAnswerOf(row: Row): WalletAnswerView | null {
  if (!row.hasBody) return null;
  const contentType = row.walletType;
  if (row.walletBody === null) return { contentType, body: '', truncated: true };
  const body = Buffer.from(row.walletBody).toString('utf8');
  return { contentType, body, truncated: row.walletTruncated };
}
