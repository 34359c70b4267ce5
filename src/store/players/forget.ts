import { Slices } from '../../lib/slices.ts';
import { blankTexts } from '../../protocol/blank-text.ts';
import { type Authority, auditSql } from '../audit/audited.ts';
import { HAS_ENDED } from '../bets/ended.ts';
import { KEPT_MESSAGES_LOCK_KEY } from '../prune/prune-months.ts';
import { inTransaction, type Prisma, sql, type Transaction } from '../schema/prisma.ts';

export type Forgotten =
  | {
      readonly kind: 'forgotten';
      /** How many of each were processed. */
      readonly bets: number;
      readonly messages: number;
      readonly attempts: number;
    }
  /** The player has open bets, whose messages are still needed; at most ten are named. */
  | { readonly kind: 'open'; readonly transactionIds: readonly string[] }
  | { readonly kind: 'missing' };

/** Bets per step; with all their messages that is a moment's work and some megabytes. */
const BETS_AT_ONCE = 200;
const TIMEOUT_MS = 300_000;

/** Reduces `400 code 5: cannot do that` to the part without the wallet's own words. */
const CODE_ONLY = sql`CASE WHEN error ~ '^[0-9]+ code -?[0-9]+' THEN substring(error FROM '^[0-9]+ code -?[0-9]+')
                           WHEN error IS NULL OR result NOT IN ('declined', 'bad_answer') THEN error
                           ELSE '***' END`;

/**
 * Blanks names, addresses and free text in what is kept about a player's bets; ids and amounts stay. One
 * transaction with its row in the audit. @throws GatewayError, also while a month is pruned; nothing is blanked
 */
export async function forgetPlayer(
  prisma: Prisma,
  userId: string,
  by: Authority,
): Promise<Forgotten> {
  return await inTransaction(
    prisma,
    async (transaction) => {
      await transaction.$executeRaw(sql`SELECT pg_advisory_xact_lock(${KEPT_MESSAGES_LOCK_KEY})`);
      const [player] = await transaction.$queryRaw<{ id: bigint; operator_id: string }[]>(sql`
        SELECT id, operator_id FROM players WHERE user_id = ${userId} FOR UPDATE`);
      if (player === undefined) return { kind: 'missing' };
      const open = await openBetsOf(transaction, player.id);
      if (open.length > 0) return { kind: 'open', transactionIds: open };
      const { bets, messages, attempts } = await blankBets(transaction, player.id);
      await transaction.$executeRaw(
        auditSql(
          by,
          'player.forgotten',
          sql`SELECT ${`player ${userId}`}::text, ${player.operator_id}::text, NULL::jsonb,
                     jsonb_build_object('bets', ${bets}::int, 'messages', ${messages}::int,
                                        'attempts', ${attempts}::int)`,
        ),
      );
      return { kind: 'forgotten', bets, messages, attempts };
    },
    TIMEOUT_MS,
  );
}

/** Applies `HAS_ENDED` with every bet locked, so that none opens again while it is blanked. */
async function openBetsOf(transaction: Transaction, playerId: bigint): Promise<string[]> {
  await transaction.$executeRaw(sql`
    SELECT 1 FROM bets WHERE player_id = ${playerId} AND place <> 'in_flight'
     ORDER BY transaction_id FOR UPDATE`);
  // Two queries, because the index of players' bets does not include those in flight.
  const rows = await transaction.$queryRawUnsafe<{ transaction_id: string }[]>(
    `(SELECT b.transaction_id FROM bets b
       WHERE b.player_id = $1 AND b.place <> 'in_flight' AND NOT ${HAS_ENDED} LIMIT 10)
     UNION
     (SELECT b.transaction_id FROM bets b
       WHERE b.player_id = $1 AND b.busy_until IS NOT NULL LIMIT 10) LIMIT 10`,
    playerId,
  );
  return rows.map((row) => row.transaction_id);
}

interface Blanked {
  readonly bets: number;
  readonly messages: number;
  readonly attempts: number;
}

/** Some bets at a time, so that no statement takes longer the more a player has bet. */
async function blankBets(transaction: Transaction, playerId: bigint): Promise<Blanked> {
  let [bets, messages, attempts] = [0, 0, 0];
  for (let after = { transaction_id: '', created_at: '-infinity' }; ; ) {
    // Only ended bets: the messages of a bet placed since are still needed.
    const rows = await transaction.$queryRawUnsafe<(typeof after)[]>(
      `SELECT b.transaction_id, b.created_at::text FROM bets b
        WHERE b.player_id = $1 AND b.place <> 'in_flight' AND ${HAS_ENDED}
          AND (b.created_at, b.transaction_id) > ($2::text::timestamptz, $3)
        ORDER BY b.created_at, b.transaction_id LIMIT ${BETS_AT_ONCE} FOR UPDATE OF b`,
      ...[playerId, after.created_at, after.transaction_id],
    );
    const last = rows.at(-1);
    if (last === undefined) return { bets, messages, attempts };
    after = last;
    const transactionIds = rows.map((row) => row.transaction_id);
    const operationIds = await blankMessages(transaction, transactionIds);
    attempts += await blankAnswers(transaction, operationIds);
    await blankRefusals(transaction, transactionIds, operationIds);
    bets += rows.length;
    messages += operationIds.length;
  }
}

/** @returns the ids of the messages */
async function blankMessages(
  transaction: Transaction,
  transactionIds: readonly string[],
): Promise<readonly bigint[]> {
  const rows = await transaction.$queryRaw<
    { id: bigint; body: Uint8Array; answer_body: string | null }[]
  >(sql`
    SELECT id, body, answer_body FROM operations
     WHERE transaction_id = ANY (${transactionIds}::text[])`);
  const ids = rows.map(({ id }) => id);
  // The messages may be some megabytes; slices let callbacks run in between.
  const bodies = await new Slices().map(rows, ({ body }) =>
    Buffer.from(blankTexts(Buffer.from(body).toString())),
  );
  await transaction.$executeRaw(sql`
    UPDATE operations o
       SET body = decode(n.body, 'hex'), answer_body = n.answer_body
      FROM unnest(${ids}::bigint[],
                  ${bodies.map((body) => body.toString('hex'))}::text[],
                  ${rows.map((row) => blankAnswer(row.answer_body))}::text[])
        AS n(id, body, answer_body)
     WHERE o.id = n.id`);
  return ids;
}

/** The answer to the service: its code and time stay, its message may contain the wallet's words. */
function blankAnswer(body: string | null): string | null {
  return body === null ? null : blankTexts(body);
}

async function blankAnswers(
  transaction: Transaction,
  operationIds: readonly bigint[],
): Promise<number> {
  return await transaction.$executeRaw(sql`
    UPDATE attempts
       SET wallet_body = NULL, wallet_type = NULL, wallet_truncated = false, error = ${CODE_ONLY},
           answer_body = regexp_replace(answer_body, '"message":"(\\\\.|[^"\\\\])*"',
                                        '"message":"***"')
     WHERE operation_id = ANY (${operationIds}::bigint[])`);
}

/** Finds deliveries by their operations: ended deliveries have no index by bet. */
async function blankRefusals(
  transaction: Transaction,
  transactionIds: readonly string[],
  operationIds: readonly bigint[],
): Promise<void> {
  await transaction.$executeRaw(sql`
    UPDATE deliveries SET last_error = substring(last_error FROM '^[0-9]+ code -?[0-9]+')
     WHERE operation_id = ANY (${operationIds}::bigint[])`);
  await transaction.$executeRaw(sql`
    UPDATE bets
       SET place_message = CASE WHEN place_message IS NULL THEN NULL ELSE '***' END,
           rollback_message = CASE WHEN rollback_message IS NULL THEN NULL ELSE '***' END,
           version = version + 1
     WHERE transaction_id = ANY (${transactionIds}::text[])`);
}
