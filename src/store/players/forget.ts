import { blankTexts } from '../../protocol/blank-text.ts';
import { type Authority, auditSql } from '../audit/audited.ts';
import { HAS_ENDED } from '../bets/ended.ts';
import { type Prisma, sql } from '../schema/prisma.ts';

export type Forgotten =
  | {
      readonly kind: 'forgotten';
      /** How many of each were gone through. */
      readonly bets: number;
      readonly messages: number;
      readonly attempts: number;
    }
  /** Bets of the player are open, at most ten are named: their messages are still needed. */
  | { readonly kind: 'open'; readonly transactionIds: readonly string[] }
  | { readonly kind: 'missing' };

const MESSAGES_AT_ONCE = 500;
const TIMEOUT_MS = 300_000;

/** `400 code 5: cannot do that` without the wallet's own words. */
const CODE_ONLY = sql`CASE WHEN error ~ '^[0-9]+ code -?[0-9]+' THEN substring(error FROM '^[0-9]+ code -?[0-9]+')
                           WHEN error IS NULL OR result NOT IN ('declined', 'bad_answer') THEN error
                           ELSE '***' END`;

type Transaction = Parameters<Parameters<Prisma['$transaction']>[0]>[0];

/**
 * Blanks names, addresses and free text in what is kept of a player's bets: messages, wallets'
 * answers, refusals. Ids and money facts stay, so that the books are the same and a late operation
 * still finds its bet. All of it or nothing, with its row in the audit.
 *
 * @throws GatewayError `DATABASE_UNAVAILABLE`; nothing is blanked then
 */
export async function forgetPlayer(
  prisma: Prisma,
  userId: string,
  by: Authority,
): Promise<Forgotten> {
  return await prisma.$transaction(
    async (transaction) => {
      const [player] = await transaction.$queryRaw<{ id: bigint; operator_id: string }[]>(sql`
        SELECT id, operator_id FROM players WHERE user_id = ${userId} FOR UPDATE`);
      if (player === undefined) return { kind: 'missing' };
      const open = await openBetsOf(transaction, player.id);
      if (open.length > 0) return { kind: 'open', transactionIds: open };
      const messages = await blankMessages(transaction, player.id);
      const attempts = await blankAnswers(transaction, player.id);
      const bets = await blankRefusals(transaction, player.id);
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
    { timeout: TIMEOUT_MS },
  );
}

/** The rule of `HAS_ENDED`, with every bet locked: none opens again while it is blanked. */
async function openBetsOf(transaction: Transaction, playerId: bigint): Promise<string[]> {
  await transaction.$executeRaw(sql`
    SELECT 1 FROM bets WHERE player_id = ${playerId} AND place <> 'in_flight'
     ORDER BY transaction_id FOR UPDATE`);
  // Two questions, because the index of players' bets has none that is in flight.
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

async function blankMessages(transaction: Transaction, playerId: bigint): Promise<number> {
  let messages = 0;
  for (let after = 0n; ; ) {
    const rows = await transaction.$queryRaw<
      { id: bigint; body: Uint8Array; answer_body: string | null }[]
    >(sql`
      SELECT o.id, o.body, o.answer_body
        FROM bets b JOIN operations o ON o.transaction_id = b.transaction_id
       WHERE b.player_id = ${playerId} AND b.place <> 'in_flight' AND o.id > ${after}
       ORDER BY o.id LIMIT ${MESSAGES_AT_ONCE}`);
    const last = rows.at(-1);
    if (last === undefined) return messages;
    after = last.id;
    messages += rows.length;
    const bodies = rows.map(({ body }) => Buffer.from(blankTexts(Buffer.from(body).toString())));
    await transaction.$executeRaw(sql`
      UPDATE operations o
         SET body = decode(n.body, 'hex'), answer_body = n.answer_body
        FROM unnest(${rows.map(({ id }) => id)}::bigint[],
                    ${bodies.map((body) => body.toString('hex'))}::text[],
                    ${rows.map((row) => blankAnswer(row.answer_body))}::text[])
          AS n(id, body, answer_body)
       WHERE o.id = n.id`);
  }
}

/** What the service was told: its code and time stay, its message may hold the wallet's words. */
function blankAnswer(body: string | null): string | null {
  return body === null ? null : blankTexts(body);
}

async function blankAnswers(transaction: Transaction, playerId: bigint): Promise<number> {
  return await transaction.$executeRaw(sql`
    UPDATE attempts a
       SET wallet_body = NULL, wallet_type = NULL, wallet_truncated = false, error = ${CODE_ONLY},
           answer_body = regexp_replace(a.answer_body, '"message":"(\\\\.|[^"\\\\])*"',
                                        '"message":"***"')
      FROM bets b JOIN operations o ON o.transaction_id = b.transaction_id
     WHERE b.player_id = ${playerId} AND b.place <> 'in_flight' AND a.operation_id = o.id`);
}

async function blankRefusals(transaction: Transaction, playerId: bigint): Promise<number> {
  await transaction.$executeRaw(sql`
    UPDATE deliveries d SET last_error = substring(d.last_error FROM '^[0-9]+ code -?[0-9]+')
      FROM bets b
     WHERE b.player_id = ${playerId} AND b.place <> 'in_flight'
       AND d.transaction_id = b.transaction_id`);
  return await transaction.$executeRaw(sql`
    UPDATE bets
       SET place_message = CASE WHEN place_message IS NULL THEN NULL ELSE '***' END,
           rollback_message = CASE WHEN rollback_message IS NULL THEN NULL ELSE '***' END,
           version = version + 1
     WHERE player_id = ${playerId} AND place <> 'in_flight'`);
}
