import type { Released } from '../../domain/generation.ts';
import { type Authority, auditSql } from '../audit/audited.ts';
import { type Prisma, raw, sql } from '../schema/prisma.ts';
import { HELD_SINCE_COUNTED } from './held-time.ts';

/** A person's decision to deliver nothing to an operator for now. */
export interface DeliveryHold {
  /** ISO 8601 UTC. */
  readonly since: string;
  readonly actor: string;
  readonly reason: string | null;
}

/** Operators on hold: no attempts, and horizons stop. Every method throws GatewayError `DATABASE_UNAVAILABLE`. */
export class DeliveryHolds {
  readonly #prisma: Prisma;

  constructor(prisma: Prisma) {
    this.#prisma = prisma;
  }

  /** By operator id; operators without a hold are absent. */
  async all(): Promise<ReadonlyMap<string, DeliveryHold>> {
    const rows = await this.#prisma.operatorHold.findMany({ where: { holdSince: { not: null } } });
    return new Map(
      rows.map(({ operatorId, holdSince, holdActor, holdReason }) => {
        const since = holdSince?.toISOString() ?? '';
        return [operatorId, { since, actor: holdActor ?? '', reason: holdReason }];
      }),
    );
  }

  /** Each operator's releases; operators without one are absent. */
  async releases(): Promise<ReadonlyMap<string, Released>> {
    const rows = await this.#prisma.operatorHold.findMany({
      where: { releasedTo: { gt: 0 } },
      select: { operatorId: true, released: true, releasedTo: true },
    });
    return new Map(rows.map(({ operatorId, ...released }) => [operatorId, released]));
  }

  /** Attempts in flight finish; no new one starts. @returns false if there is a hold already */
  async hold(operatorId: string, by: Authority): Promise<boolean> {
    const changed = await this.#prisma.$executeRaw(sql`
      WITH held AS (
        INSERT INTO operator_holds AS h
               (operator_id, counted_at, hold_since, hold_actor, hold_reason)
        VALUES (${operatorId}, clock_timestamp(), clock_timestamp(), ${by.caller.actor},
                ${by.reason ?? null})
        ON CONFLICT (operator_id) DO UPDATE
           SET counted_at = excluded.counted_at, hold_since = excluded.hold_since,
               hold_actor = excluded.hold_actor, hold_reason = excluded.hold_reason
         WHERE h.hold_since IS NULL
        RETURNING operator_id, hold_since
      ) ${auditSql(
        by,
        'deliveries.hold',
        sql`SELECT 'operator ' || operator_id, operator_id, jsonb_build_object('held', false),
                   jsonb_build_object('held', true) FROM held`,
      )}`);
    return changed > 0;
  }

  /** The workers' next sweep continues what waits, with its remaining horizon. @returns false if not held */
  async resume(operatorId: string, by: Authority): Promise<boolean> {
    const changed = await this.#prisma.$executeRaw(sql`
      WITH before AS (
        SELECT operator_id, hold_since, hold_actor FROM operator_holds
         WHERE operator_id = ${operatorId} AND hold_since IS NOT NULL FOR UPDATE
      ), resumed AS (
        UPDATE operator_holds h
           SET held_ms = h.held_ms + ${raw(HELD_SINCE_COUNTED)}, counted_at = clock_timestamp(),
               hold_since = NULL, hold_actor = NULL, hold_reason = NULL
          FROM before b WHERE h.operator_id = b.operator_id
        RETURNING h.operator_id
      ) ${auditSql(
        by,
        'deliveries.resume',
        sql`SELECT 'operator ' || b.operator_id, b.operator_id,
                   jsonb_build_object('held', true, 'by', b.hold_actor, 'since',
                     to_char(b.hold_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
                   jsonb_build_object('held', false)
              FROM before b JOIN resumed USING (operator_id)`,
      )}`);
    return changed > 0;
  }
}
