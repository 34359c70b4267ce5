import { isPassed, resultOfReopened } from '../../domain/dead-letter.ts';
import { type Authority, auditSql } from '../audit/audited.ts';
import { settlementColumns } from '../bets/columns.ts';
import { type Prisma, sql } from '../schema/prisma.ts';
import { type ReadDeadLetter, ROUNDS_MAX, readDeadLetters } from './dead-letters.ts';

/** One statement reads their bets' later operations, which may be thousands for each. */
const BATCH_SIZE = 100;
const HOUR_SECONDS = 3_600;

/** Which of an operator's deliveries to retry, and how many to read. */
interface RetryRange {
  readonly state: 'dead' | 'pending';
  /** True: only those of another `wallet.generation`; false: only the others. Default: all. */
  readonly held?: boolean | undefined;
  readonly operation?: string | undefined;
  /** Only deliveries with a greater id. */
  readonly after?: bigint | undefined;
  /** Default: all. */
  readonly limit?: number | undefined;
}

interface Retried {
  readonly retried: number;
  /** The last id read; undefined if there are no more after it. */
  readonly after: bigint | undefined;
}

/** For the audit; without the last error, which may name a player. */
function before(ids: readonly bigint[]) {
  return sql`SELECT id, operator_id, state, attempts FROM deliveries WHERE id = ANY (${ids}::bigint[])`;
}

/** SET clauses for a delivery `d`: its whole horizon starts again now; earlier held time no longer counts. */
function wholeHorizon(seconds: number) {
  return sql`
    dead_at = clock_timestamp() + make_interval(secs => ${seconds}::float8),
    held_ms = coalesce((SELECT h.held_ms FROM operator_holds h WHERE h.operator_id = d.operator_id), 0)`;
}

/**
 * The last attempt of a delivery `d` is probably in flight: its horizon is over and its bet busy. It dies with that
 * attempt, whatever is written now. `OFFSET 0`: bets are found by id, one by one.
 */
const IS_AT_ITS_LAST = sql`EXISTS (
  SELECT FROM bets b LEFT JOIN operator_holds h ON h.operator_id = d.operator_id
   WHERE b.transaction_id = d.transaction_id AND b.busy_attempt IS NOT NULL
     AND clock_timestamp() > d.dead_at + make_interval(secs => (coalesce(h.held_ms, 0) - d.held_ms) / 1000.0)
  OFFSET 0)`;

const CHANGES = sql`
  SELECT 'delivery ' || b.id, b.operator_id,
         jsonb_build_object('state', b.state, 'attempts', b.attempts),
         jsonb_build_object('state', 'pending')
    FROM changed JOIN before b USING (id)`;

/** A bet for the write of its reopened dead letters, in the order of the recordset. */
function reopenedBet(letters: readonly ReadDeadLetter[]) {
  const [first] = letters;
  if (first === undefined) throw new Error('a bet without dead letters');
  const { transactionId, version, bet } = first;
  const settlement = resultOfReopened(
    bet,
    letters.map(({ dead }) => dead),
  );
  return { transaction_id: transactionId, version, ...settlementColumns(settlement) };
}

/**
 * Makes deliveries due now, single ones or a whole backlog in batches. `IS NOT DISTINCT FROM`: they are found by id,
 * whatever the statistics say of all that wait or are dead.
 */
export class DeliveryRetries {
  readonly #prisma: Prisma;
  readonly #horizonHours: (operatorId: string) => number;

  constructor(prisma: Prisma, horizonHours: (operatorId: string) => number) {
    this.#prisma = prisma;
    this.#horizonHours = horizonHours;
  }

  /** Makes an operator's deliveries in one state due now, except confirmed ones, whose repeat is late on purpose. */
  async retryAll(
    operatorId: string,
    { state, held, operation, after: from = 0n, limit = Number.POSITIVE_INFINITY }: RetryRange,
    by: Authority,
  ): Promise<Retried> {
    const which = {
      ...{ operatorId, state },
      ...(state === 'pending' && { purpose: 'promise' }),
      ...(held !== undefined && { held }),
      ...(operation !== undefined && { operation }),
    };
    let retried = 0;
    let looked = 0;
    let after = from;
    while (looked < limit) {
      const rows = await this.#prisma.delivery.findMany({
        where: { ...which, id: { gt: after } },
        select: { id: true },
        orderBy: { id: 'asc' },
        take: Math.min(BATCH_SIZE, limit - looked),
      });
      const last = rows.at(-1);
      if (last === undefined) return { retried, after: undefined };
      after = last.id;
      looked += rows.length;
      const ids = rows.map(({ id }) => id);
      retried += await this[state === 'dead' ? 'reopen' : 'hurry'](operatorId, ids, by);
    }
    return { retried, after };
  }

  /** Nothing overtakes a pending delivery, and one in its last attempt is left alone. @returns how many */
  async hurry(operatorId: string, ids: readonly bigint[], by: Authority): Promise<number> {
    return await this.#prisma.$executeRaw(sql`
      WITH before AS (${before(ids)}), changed AS (
      UPDATE deliveries d
         SET next_attempt_at = least(d.next_attempt_at, clock_timestamp()),
             ${wholeHorizon(this.#horizonSeconds(operatorId))}
       WHERE d.id = ANY (${ids}::bigint[]) AND d.state IS NOT DISTINCT FROM 'pending'
         AND NOT ${IS_AT_ITS_LAST}
      RETURNING d.id
      ) ${auditSql(by, 'delivery.retry', CHANGES)}`);
  }

  /** Makes dead deliveries pending, but none that a later operation has overtaken (`isPassed`). @returns how many */
  async reopen(operatorId: string, ids: readonly bigint[], by: Authority): Promise<number> {
    let reopened = 0;
    for (let round = 0; round < ROUNDS_MAX && reopened < ids.length; round += 1) {
      const read = await readDeadLetters(this.#prisma, ids);
      const chosen = read.filter(({ dead }) => !isPassed(dead));
      if (chosen.length === 0) break;
      reopened += await this.#reopenUnmoved(operatorId, chosen, by);
    }
    return reopened;
  }

  /**
   * Every operation of a bet increments its version: the same version means that nothing came in between. It is
   * incremented here too, so that a concurrent decision without the delivery is made again.
   */
  async #reopenUnmoved(
    operatorId: string,
    chosen: readonly ReadDeadLetter[],
    by: Authority,
  ): Promise<number> {
    const ids = chosen.map(({ id }) => id);
    const bets = Array.from(Map.groupBy(chosen, (one) => one.transactionId).values(), reopenedBet);
    return await this.#prisma.$executeRaw(sql`
      WITH before AS (${before(ids)}), bet AS (
        UPDATE bets b
           SET version = b.version + 1, settlement = c.settlement, settlement_amount = c.amount,
               settlement_type = c.type, settlement_time = c.time
          FROM jsonb_to_recordset(${JSON.stringify(bets)}::jsonb)
               AS c (transaction_id text, version int, settlement text, amount text, type text, time text)
         WHERE b.transaction_id = c.transaction_id AND b.version = c.version
        RETURNING b.transaction_id
      ), changed AS (
      UPDATE deliveries d
         SET state = 'pending', settled_at = NULL, next_attempt_at = clock_timestamp(),
             -- The person who decided to send it again: a wallet that pays repeats twice needs that decision.
             resolved_by = ${by.caller.actor},
             ${wholeHorizon(this.#horizonSeconds(operatorId))}
        FROM bet
       WHERE d.id = ANY (${ids}::bigint[]) AND d.transaction_id = bet.transaction_id
         AND d.state IS NOT DISTINCT FROM 'dead'
      RETURNING d.id
      ) ${auditSql(by, 'delivery.retry', CHANGES)}`);
  }

  #horizonSeconds(operatorId: string): number {
    return this.#horizonHours(operatorId) * HOUR_SECONDS;
  }
}
