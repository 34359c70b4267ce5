import { type Authority, auditSql } from '../audit/audited.ts';
import { type Prisma, type Sql, sql } from '../schema/prisma.ts';

/** Deliveries per statement, because of its timeout: millions may wait for a release. */
const AT_ONCE = 2_000;

/** Time before the release does not count: the whole horizon starts again now. */
const AGE_ANEW = sql`dead_at = greatest(d.dead_at, clock_timestamp() + (d.dead_at - d.created_at))`;
const DUE_NOW = sql`held = false,
  next_attempt_at = CASE WHEN d.held THEN clock_timestamp() ELSE d.next_attempt_at END`;

export interface Release {
  /** Bets of generations up to this one. */
  readonly upTo: number;
  /** The `wallet.generation` released to: a process configured with another one must not send them. */
  readonly to: number;
}

/**
 * Releases bets of generations up to this one to the operator's present wallet. Horizons restart before anything
 * becomes due, so that no delivery dies of its held time. If it fails half-way, repeat it.
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function releaseGeneration(
  prisma: Prisma,
  operatorId: string,
  { upTo, to }: Release,
  by: Authority,
): Promise<void> {
  await changeHeld(prisma, operatorId, upTo, AGE_ANEW);
  await prisma.$executeRaw(sql`
    WITH before AS (
      SELECT released, released_to FROM operator_holds WHERE operator_id = ${operatorId}
    ), hold AS (
      INSERT INTO operator_holds AS h (operator_id, released, released_to, counted_at)
      VALUES (${operatorId}, ${upTo}, ${to}, clock_timestamp())
      ON CONFLICT (operator_id) DO UPDATE
         SET released = greatest(h.released, excluded.released), released_to = excluded.released_to
      RETURNING operator_id, released, released_to
    ) ${auditSql(
      by,
      'deliveries.release',
      sql`SELECT 'operator ' || h.operator_id, h.operator_id,
                 coalesce((SELECT jsonb_build_object('released', b.released, 'to', b.released_to)
                             FROM before b), '{"released": 0, "to": 0}'),
                 jsonb_build_object('released', h.released, 'to', h.released_to) FROM hold h`,
    )}`);
  await changeHeld(prisma, operatorId, upTo, DUE_NOW);
}

/** Changes every pending delivery of bets of generations up to this one, oldest first. */
async function changeHeld(
  prisma: Prisma,
  operatorId: string,
  generation: number,
  change: Sql,
): Promise<void> {
  for (let after = 0n; ; ) {
    const [batch] = await prisma.$queryRaw<{ readonly last: bigint | null }[]>(sql`
      WITH batch AS MATERIALIZED (
        SELECT id FROM deliveries
         WHERE operator_id = ${operatorId} AND state = 'pending' AND id > ${after}
         ORDER BY id LIMIT ${AT_ONCE}
      ), changed AS (
        UPDATE deliveries d SET ${change}
          FROM batch, bets b
         -- By its id alone: by statistics of before an outage PostgreSQL would read all that wait for each of a batch.
         WHERE d.id = batch.id AND d.state IS NOT DISTINCT FROM 'pending'
           AND b.transaction_id = d.transaction_id
           -- Of the generation itself only what was held.
           AND (b.generation < ${generation} OR b.generation = ${generation} AND d.held)
      )
      SELECT max(id) AS last FROM batch`);
    const last = batch?.last ?? null;
    if (last === null) return;
    after = last;
  }
}
