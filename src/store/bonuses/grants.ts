import type { Database } from '../database.ts';
import type { Statement } from '../statement.ts';

/** One player's bonus of one template that was asked for, its outcome unknown. */
export interface OpenGrant {
  readonly id: string;
  readonly intentId: string;
  readonly upstreamCid: string;
  readonly operatorId: string;
  readonly templateId: string;
  /** The aggregator's id of the player. */
  readonly userId: string;
  /** Where to go on in the player's bonuses. */
  readonly page: number;
  /** How often all of the player's bonuses have been seen since. */
  readonly looks: number;
  readonly ageMs: number;
}

/** A batch of which every player's outcome is known. */
export interface SettledBatch {
  readonly intentId: string;
  readonly upstreamCid: string;
  readonly operatorId: string;
  /** The bonuses that were found, as the service showed them; undefined unless all were. */
  readonly items: readonly string[] | undefined;
}

/**
 * The slow look for bonuses whose batch fell silent, one player's page at a time, by one of all
 * replicas. Every method throws GatewayError `DATABASE_UNAVAILABLE`.
 */
export class BonusGrants {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Claims the grant that is longest due; another process takes it when `leaseMs` are over. */
  async claim(upstreamCids: readonly string[], leaseMs: number): Promise<OpenGrant | undefined> {
    const [row] = await this.#database.query<OpenGrant & Record<string, unknown>>(CLAIM, [
      upstreamCids,
      leaseMs,
    ]);
    return row;
  }

  /** Goes on at another page, or with another look after a while. */
  async lookAgain(
    id: string,
    next: { readonly page: number; readonly looks: number; readonly delayMs: number },
  ): Promise<void> {
    await this.#database.query(LOOK_AGAIN, [id, next.page, next.looks, next.delayMs]);
  }

  /**
   * The player has the bonus: it is the operator's from now on. One that was recorded before the
   * batch began does not come from it: the batch was refused for this player.
   */
  async found(grant: OpenGrant, bonusId: string, item: string): Promise<void> {
    const { id, upstreamCid, operatorId, templateId, userId } = grant;
    await this.#database.query(FOUND, [
      id,
      upstreamCid,
      operatorId,
      bonusId,
      templateId,
      userId,
      item,
    ]);
  }

  async absent(id: string): Promise<void> {
    await this.#database.query(ABSENT, [id]);
  }

  /** The batch, once nothing of it is open any more. */
  async settled(intentId: string): Promise<SettledBatch | undefined> {
    const [row] = await this.#database.query<{
      upstream_cid: string;
      operator_id: string;
      items: string[];
      all_issued: boolean;
    }>(SETTLED, [intentId]);
    return (
      row && {
        intentId,
        upstreamCid: row.upstream_cid,
        operatorId: row.operator_id,
        items: row.all_issued ? row.items : undefined,
      }
    );
  }

  /** Batches that were left open although nothing of theirs is: their closing was cut short. */
  async leftOpen(): Promise<readonly string[]> {
    const rows = await this.#database.query<{ id: string }>(LEFT_OPEN, []);
    return rows.map(({ id }) => id);
  }
}

const CLAIM: Statement = {
  name: 'bonus-grant-claim',
  text: `
  UPDATE bonus_grants
     SET look_at = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
   WHERE id = (SELECT id FROM bonus_grants
                WHERE state = 'open' AND look_at <= clock_timestamp()
                  AND upstream_cid = ANY ($1::text[])
                ORDER BY look_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, intent_id AS "intentId", upstream_cid AS "upstreamCid",
            operator_id AS "operatorId", template_id AS "templateId", user_id AS "userId",
            page, looks,
            (EXTRACT(EPOCH FROM clock_timestamp() - created_at) * 1000)::float8 AS "ageMs"`,
};

const LOOK_AGAIN: Statement = {
  name: 'bonus-grant-look-again',
  text: `UPDATE bonus_grants
            SET page = $2, looks = $3,
                look_at = clock_timestamp() + make_interval(secs => $4::float8 / 1000)
          WHERE id = $1 AND state = 'open'`,
};

const FOUND: Statement = {
  name: 'bonus-grant-found',
  text: `
  WITH known AS (
    SELECT 1 FROM bonuses b JOIN bonus_grants g ON g.id = $1
     WHERE b.upstream_cid = $2::text AND b.bonus_id = $4::bigint AND b.created_at < g.created_at
  ), recorded AS (
    INSERT INTO bonuses (upstream_cid, operator_id, bonus_id, template_id, user_id)
    VALUES ($2::text, $3, $4::bigint, $5, $6) ON CONFLICT DO NOTHING
  )
  UPDATE bonus_grants
     SET state = CASE WHEN EXISTS (SELECT 1 FROM known) THEN 'refused' ELSE 'issued' END, item = $7
   WHERE id = $1 AND state = 'open'`,
};

const ABSENT: Statement = {
  name: 'bonus-grant-absent',
  text: `UPDATE bonus_grants SET state = 'absent' WHERE id = $1 AND state = 'open'`,
};

const SETTLED: Statement = {
  name: 'bonus-grant-settled',
  text: `SELECT i.upstream_cid, i.operator_id,
                array_agg(g.item ORDER BY g.id) AS items,
                bool_and(g.state = 'issued' AND g.item IS NOT NULL) AS all_issued
           FROM bonus_intents i JOIN bonus_grants g ON g.intent_id = i.id
          WHERE i.id = $1 AND i.kind = 'apply' AND i.state = 'open'
          GROUP BY i.id
         HAVING bool_and(g.state <> 'open')`,
};

const LEFT_OPEN: Statement = {
  name: 'bonus-grant-left-open',
  text: `SELECT i.id FROM bonus_intents i
          WHERE i.state = 'open' AND i.kind = 'apply' AND i.look_at <= clock_timestamp()
            AND NOT EXISTS (SELECT 1 FROM bonus_grants g
                             WHERE g.intent_id = i.id AND g.state = 'open')`,
};
